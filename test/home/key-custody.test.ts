import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KeyCustody, openKeyCustody } from '../../src/home/index.js';
import { StartRefused, systemRandom } from '../../src/platform/index.js';
import { admitPublicKey, toUtf8, verifySignature } from '../../src/protocol/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type HomeFixture, openHome } from './home-fixture.js';

const random = systemRandom();
const message = toUtf8('a message');

describe('key custody', () => {
  let test: TestDatabase;
  let directory: string;
  let custody: KeyCustody;

  beforeAll(async () => {
    test = await createTestDatabase();
    directory = mkdtempSync(join(tmpdir(), 'hearth-kek-'));
    custody = await open(join(directory, 'keys', 'kek'));
  });
  afterAll(async () => {
    await test.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  function open(file: string, makeIfMissing = true): Promise<KeyCustody> {
    return openKeyCustody({ sql: test.database.sql, file, makeIfMissing, random });
  }

  it('makes the key encryption key at the first start, readable by its owner alone, and reads it at the next', async () => {
    const file = join(directory, 'keys', 'kek');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, 'keys')).mode & 0o777).toBe(0o700);
    expect((await open(file)).keyEncryptionKeyId).toBe(custody.keyEncryptionKeyId);
    expect(readFileSync(file, 'utf8').trim()).not.toContain(custody.keyEncryptionKeyId);
  });

  it('gives all starters at once the same key encryption key', async () => {
    const file = join(directory, 'race', 'kek');
    const opened = await Promise.all(Array.from({ length: 8 }, () => open(file)));
    expect(new Set(opened.map((each) => each.keyEncryptionKeyId)).size).toBe(1);
  });

  it('signs with a generated key, opened afresh or from its cache', async () => {
    const key = await custody.generate();
    const publicKey = admitPublicKey(key.publicJwk);
    const afresh = await open(join(directory, 'keys', 'kek'));
    for (const signer of [afresh, afresh, custody]) {
      expect(verifySignature(publicKey, message, await signer.sign(key, message))).toBe(true);
    }
  });

  it('does not open a sealed key beside another public key, nor one with a changed bit', async () => {
    const [one, other] = [await custody.generate(), await custody.generate()];
    await expect(custody.sign({ ...one, sealedPrivateKey: other.sealedPrivateKey }, message)).rejects.toThrow(
      'does not open',
    );
    for (const at of [0, 1, 13, 29, 60]) {
      const changed = Uint8Array.from(one.sealedPrivateKey, (byte, index) => (index === at ? byte ^ 1 : byte));
      await expect(custody.sign({ ...one, sealedPrivateKey: changed }, message)).rejects.toThrow();
    }
  });

  it('opens a secret only under the label it was sealed with', () => {
    const sealed = custody.sealSecret('webhook a', toUtf8('s3cret'));
    expect(Buffer.from(custody.openSecret('webhook a', sealed)).toString()).toBe('s3cret');
    expect(() => custody.openSecret('webhook b', sealed)).toThrow('does not open');
  });

  it('refuses a file that others can read, a file without a key, and a named file that is missing', async () => {
    const file = join(directory, 'given');
    await expect(open(file, false)).rejects.toThrow(/does not exist/);
    writeFileSync(file, 'not a key\n', { mode: 0o600 });
    await expect(open(file)).rejects.toThrow(/43 characters/);
    chmodSync(file, 0o644);
    await expect(open(file)).rejects.toThrow(/chmod 600/);
    await expect(open(directory)).rejects.toThrow(StartRefused);
  });
});

describe('key custody of an existing database', () => {
  let home: HomeFixture;
  beforeAll(async () => {
    home = await openHome();
  });
  afterAll(() => home.close());

  it('refuses another key encryption key in words', async () => {
    const file = join(home.directory, 'other-kek');
    writeFileSync(file, `${Buffer.alloc(32, 7).toString('base64url')}\n`, { mode: 0o600 });
    const opened = openKeyCustody({ sql: home.db.sql, file, makeIfMissing: true, random });
    await expect(opened).rejects.toThrow(/sealed under the key encryption key kek_.*HEARTH_KEY_ENCRYPTION_KEY_FILE/);
  });

  it('refuses a missing key encryption key instead of making a new one', async () => {
    const file = join(home.directory, 'gone', 'kek');
    const opened = openKeyCustody({ sql: home.db.sql, file, makeIfMissing: true, random });
    await expect(opened).rejects.toThrow(/does not exist. Put your copy of that file back/);
    expect(() => statSync(file)).toThrow();
  });
});
