// Opens key custody at start: finds, makes or refuses the key encryption key, depending on what the database already holds.
import { type Random, type Sql, StartRefused } from '../../platform/index.js';
import type { KeyCustody } from './key-custody.js';
import { makeKeyEncryptionKey, readKeyEncryptionKey } from './key-encryption-key.js';
import { sealedKeyCustody } from './sealed-key-custody.js';
import { readKeyEncryptionKeyId } from './store.js';

export interface OpenKeyCustody {
  sql: Sql;
  file: string;
  /** Only the default path is filled by us; a path that an operator names must hold a key already. */
  makeIfMissing: boolean;
  random: Random;
}

export async function openKeyCustody({ sql, file, makeIfMissing, random }: OpenKeyCustody): Promise<KeyCustody> {
  const expected = await readKeyEncryptionKeyId(sql);
  const kek = await readKeyEncryptionKey(file);
  if (!kek && expected !== undefined) {
    throw new StartRefused(
      `This database was sealed under the key encryption key ${expected}, but ${file} does not exist. ` +
        'Put your copy of that file back, or name it with HEARTH_KEY_ENCRYPTION_KEY_FILE.',
    );
  }
  if (!kek && !makeIfMissing) {
    throw new StartRefused(
      `The key encryption key file ${file} does not exist. Make one with: ` +
        `(umask 077; node -p "require('node:crypto').randomBytes(32).toString('base64url')" > ${file})`,
    );
  }
  const custody = sealedKeyCustody(kek ?? (await makeKeyEncryptionKey(file, random)), random);
  if (expected !== undefined) requireSameKey(custody, expected);
  return custody;
}

/** A wrong key would only show when the first signature fails; refusing the start says what to do. */
export function requireSameKey(custody: KeyCustody, expected: string): void {
  if (custody.keyEncryptionKeyId === expected) return;
  throw new StartRefused(
    `This database was sealed under the key encryption key ${expected}, but the given key is ${custody.keyEncryptionKeyId}. ` +
      'Name the right file with HEARTH_KEY_ENCRYPTION_KEY_FILE.',
  );
}
