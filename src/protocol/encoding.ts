/** The byte forms of the wire: base64url, digests, instants and signing prefixes. Each is strict in both directions. */

import { createHash } from 'node:crypto';

export type Digest = string & { readonly brand: 'Digest' };

export type SigningPurpose = 'envelope' | 'genesis' | 'transfer' | 'lineage';

const BASE64URL = /^[A-Za-z0-9_-]*$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
// There is no year 0: PostgreSQL, like the calendar, goes from 1 BC to AD 1.
const INSTANT = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const DIGEST_MEMBER = /^([a-z0-9*_.-]+)=:([A-Za-z0-9+/]*={0,2}):$/;

const encoder = new TextEncoder();
// Without `stream` a decoder keeps nothing from one call to the next.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function toBase64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
}

/** Decodes without padding; a stray character, a bad length or set trailing bits give undefined. */
export function fromBase64url(text: string): Uint8Array | undefined {
  if (!BASE64URL.test(text) || text.length % 4 === 1) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  // The last character may carry bits that belong to no byte: two spellings of one value would both be accepted.
  return bytes.toString('base64url') === text ? new Uint8Array(bytes) : undefined;
}

export function toUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Decodes UTF-8; malformed bytes give undefined, a BOM stays visible. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytes).digest());
}

/** `sha256:` + 64 lower-case hex of exact bytes. */
export function digestOf(bytes: Uint8Array): Digest {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}` as Digest;
}

export function isDigest(text: string): text is Digest {
  return DIGEST.test(text);
}

/** The RFC 9530 Content-Digest field of exact bytes. */
export function contentDigestHeader(bytes: Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;
}

/** True when the field holds exactly one sha-256 member and it is the digest of the bytes; other algorithms are passed over. */
export function verifyContentDigest(field: string, bytes: Uint8Array): boolean {
  const found: string[] = [];
  for (const member of field.split(',')) {
    const match = DIGEST_MEMBER.exec(member.trim());
    if (!match) return false;
    if (match[1] === 'sha-256') found.push(match[0]);
  }
  return found.length === 1 && found[0] === contentDigestHeader(bytes);
}

/** `YYYY-MM-DDTHH:MM:SS.sssZ`, the only spelling of an instant on the wire. */
export function formatInstant(date: Date): string {
  const text = date.toISOString();
  if (!INSTANT.test(text)) throw new RangeError(`not a four-digit year: ${text}`);
  return text;
}

/** Reads an instant; another spelling or a date that no calendar has gives undefined. */
export function parseInstant(text: string): Date | undefined {
  if (!INSTANT.test(text)) return undefined;
  const date = new Date(text);
  // Date rolls 30 February over into March and 24:00 into the next day; what else no calendar or clock has is NaN.
  return date.getUTCDate() === Number(text.slice(8, 10)) ? date : undefined;
}

const purposePrefixes: Record<SigningPurpose, Uint8Array> = {
  envelope: toUtf8('agent-federation/1 envelope\n'),
  genesis: toUtf8('agent-federation/1 genesis\n'),
  transfer: toUtf8('agent-federation/1 transfer\n'),
  lineage: toUtf8('agent-federation/1 lineage\n'),
};

/** What is signed for a purpose that is not a JWS: the prefix, a newline, the bytes. */
export function signingBytes(purpose: SigningPurpose, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([purposePrefixes[purpose], bytes]);
}

/** Whole seconds since 1970: the NumericDate of JWT claims. */
export function toNumericDate(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

export function fromNumericDate(seconds: number): Date {
  return new Date(seconds * 1000);
}
