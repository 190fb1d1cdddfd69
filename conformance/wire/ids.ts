// Ids as chapter 01 has them: kind, for some the minting domain, home tag, and a time-ordered random part.
import { randomBytes } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import { base64url, digestOf, sha256, signingBytes } from './encoding.js';
import type { Jwk } from './keys.js';

const crockford = '0123456789abcdefghjkmnpqrstvwxyz';

function ulid(): string {
  let number = (BigInt(Date.now()) << 80n) | BigInt(`0x${randomBytes(10).toString('hex')}`);
  let text = '';
  for (let at = 0; at < 26; at += 1) {
    text = `${crockford[Number(number & 31n)]}${text}`;
    number >>= 5n;
  }
  return text;
}

export type Kind = 'msg' | 'txn' | 'rcpt' | 'prop' | 'conv' | 'cmt';

/** Conversations and commitments also name the domain that mints them. */
export function mintId(kind: Kind, tag: string, domain?: string): string {
  return [kind, ...(domain === undefined ? [] : [domain]), tag, ulid()].join('_');
}

export function isId(kind: Kind, text: string): boolean {
  const minting = kind === 'conv' || kind === 'cmt' ? '([a-z0-9.-]+)_' : '';
  return text.length <= 320 && new RegExp(`^${kind}_${minting}[a-z0-9]{1,32}_[0-7][0-9a-hjkmnp-tv-z]{25}$`).test(text);
}

/** The id of a principal is the digest of its genesis record (NAMES-9). */
export function principalIdOf(address: string, first_key: Jwk, salt: string): string {
  const record = { address, first_key, recovery_key_hash: digestOf(`recovery of ${address}`), salt };
  return `prn_${base64url(sha256(signingBytes('genesis', canonicalJson(record))))}`;
}
