// What the played domains keep between runs: one secret, from which all their keys are made. A target that has pinned them
// knows them again.
import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { keyFromSeed, type SigningKey } from '../wire/keys.js';

export interface Identity {
  keyOf(...names: readonly string[]): SigningKey;
}

export function identityFrom(secret: string): Identity {
  return { keyOf: (...names) => keyFromSeed(createHmac('sha256', secret).update(names.join(' ')).digest()) };
}

/** Reads the file, or makes it at the first run. */
export function openIdentity(file: string): Identity {
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  const secret = readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new TypeError(`${file} is no identity file`);
  return identityFrom(secret);
}
