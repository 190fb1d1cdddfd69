import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createPrincipal,
  createWebhookSource,
  currentPrincipalKey,
  ensureOperator,
  issueCredential,
  openWebhookSource,
} from '../../src/home/index.js';
import { unseal } from '../../src/home/key-custody/sealed-box.js';
import { fromBase64url, keyPairFromSeed, thumbprint, toUtf8 } from '../../src/protocol/index.js';
import { addPrincipal, dumpEverything, type HomeFixture, openHome, spellingsOf } from './home-fixture.js';

describe('secrets at rest', () => {
  let home: HomeFixture;
  beforeAll(async () => {
    home = await openHome();
  });
  afterAll(() => home.close());

  async function expectAbsent(secret: Uint8Array): Promise<void> {
    const dump = await dumpEverything(home.db);
    for (const spelling of spellingsOf(secret)) expect(dump).not.toContain(spelling);
  }

  it('the dump that these tests look through would show a secret if one were there', async () => {
    const canary = home.random.bytes(32);
    await home.db.sql`create table public.canaries (bytes bytea)`;
    await home.db.sql`insert into public.canaries values (${Buffer.concat([Buffer.from('x'), canary])})`;
    const dump = await dumpEverything(home.db);
    expect(spellingsOf(canary).some((spelling) => dump.includes(spelling))).toBe(true);
    await home.db.sql`drop table public.canaries`;
  });

  it('BR-89: private keys and the key encryption key are nowhere in the database', async () => {
    const alice = await addPrincipal(home, 'alice');
    const key = await currentPrincipalKey(home.db.sql, alice.home);
    if (!key) throw new Error('no key');
    const kek = fromBase64url(readFileSync(home.kekFile, 'utf8').trim()) ?? new Uint8Array();
    const seed = unseal(kek, `hearth private key ${thumbprint(key.publicJwk)}`, key.sealedPrivateKey);
    expect(keyPairFromSeed(seed).publicKey.jwk).toEqual(key.publicJwk);
    await expectAbsent(seed);
    await expectAbsent(kek);
  });

  it('BR-89: tokens and recovery keys are nowhere in the database', async () => {
    const operator = await ensureOperator(home);
    const created = await createPrincipal(home, { kind: 'service', name: 'feed', actor: 'test' });
    if (!created.ok || !operator) throw new Error('not made');
    const issued = await issueCredential(home, {
      kind: 'producer',
      principal: created.principal.address,
      label: 'feed',
      actor: 'test',
    });
    if (!issued.ok) throw new Error(issued.detail);
    for (const token of [operator.token, issued.token]) {
      await expectAbsent(toUtf8(token));
      await expectAbsent(fromBase64url(token.slice(-43)) ?? new Uint8Array());
    }
    await expectAbsent(fromBase64url(created.recoveryKey) ?? new Uint8Array());
  });

  it('BR-89: a webhook secret is sealed, and opens for its own source alone', async () => {
    const created = await createWebhookSource(home, { name: 'github', adapter: 'github', actor: 'test' });
    if (!created.ok) throw new Error(created.detail);
    await expectAbsent(toUtf8(created.secret));
    const opened = await openWebhookSource(home.db.sql, home.custody, 'github');
    expect(Buffer.from(opened?.secret ?? []).toString()).toBe(created.secret);
    expect(opened).toMatchObject({ address: 'service://alpha.test/github', adapter: 'github', tenant: 'default' });
    expect(opened).not.toHaveProperty('sealedSecret');
    expect(await openWebhookSource(home.db.sql, home.custody, 'other')).toBeUndefined();

    await createWebhookSource(home, { name: 'second', adapter: 'github', actor: 'test' });
    await home.db.sql`
      update home.webhook_sources s
         set sealed_secret = o.sealed_secret
        from home.webhook_sources o
       where s.name = 'second' and o.name = 'github'`;
    await expect(openWebhookSource(home.db.sql, home.custody, 'second')).rejects.toThrow('does not open');
  });
});
