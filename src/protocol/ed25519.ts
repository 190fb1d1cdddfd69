/**
 * Ed25519 keys. A public key is admitted once, with every doubtful encoding refused (@noble/ed25519); signatures are then
 * verified by node:crypto alone. The two libraries disagree on mixed-order points, so neither does the other's part.
 */

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { Point } from '@noble/ed25519';
import { LRUCache } from 'lru-cache';
import { fromBase64url, sha256, toBase64url, toUtf8 } from './encoding.js';
import { LIMITS } from './limits.js';
import { Problem, type Refusal, refuse } from './problem.js';

export type PublicJwk = { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string };

/** Not exported: only this file can make a PublicKey. */
const proof = Symbol('PublicKey');

/** An admitted key: canonical, of prime order, safe to verify with. Only this file makes one. */
export type PublicKey = {
  readonly jwk: PublicJwk;
  readonly bytes: Uint8Array;
  readonly thumbprint: string;
  readonly keyObject: KeyObject;
  readonly [proof]: 'public key';
};

/** The custody port: private keys leave custody only as signatures over these bytes. */
export type Sign = (bytes: Uint8Array) => Promise<Uint8Array>;

export type KeyPair = { readonly privateKey: KeyObject; readonly publicKey: PublicKey };

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Every encoding of a point of order 1, 2, 4 or 8, the non-canonical ones too, without the sign bit. */
export const SMALL_ORDER_ENCODINGS: readonly string[] = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];
const SMALL_ORDER = new Set(SMALL_ORDER_ENCODINGS);

const admitted = new LRUCache<string, PublicKey>({ max: LIMITS.admittedKeys });

/** Admits a key, or throws `Problem('key_inadmissible')`. Other members of the JWK (kid, nbf, exp) are for the caller. */
export function admitPublicKey(jwk: unknown): PublicKey {
  const read = readPublicKey(jwk);
  if (!read.ok) throw new Problem('key_inadmissible', read.detail);
  return read.key;
}

export function readPublicKey(jwk: unknown): { readonly ok: true; readonly key: PublicKey } | Refusal<'key_invalid'> {
  if (typeof jwk !== 'object' || jwk === null) return refuse('key_invalid', 'the key is not a JWK');
  const { kty, crv, x, d } = jwk as Record<string, unknown>;
  if (kty !== 'OKP' || crv !== 'Ed25519') return refuse('key_invalid', 'the key is not OKP Ed25519');
  if (d !== undefined) return refuse('key_invalid', 'the JWK holds a private key');
  if (typeof x !== 'string' || x.length !== 43) return refuse('key_invalid', 'x is not 32 bytes of base64url');
  const known = admitted.get(x);
  if (known) return { ok: true, key: known };
  const bytes = fromBase64url(x);
  if (!bytes) return refuse('key_invalid', 'x is not 32 bytes of base64url');
  if (!isPrimeOrderPoint(bytes)) return refuse('key_invalid', 'x is not a canonical point of prime order');
  const key = buildPublicKey(x, bytes);
  admitted.set(x, key);
  return { ok: true, key };
}

/** The RFC 7638 thumbprint: base64url SHA-256 of the required members in their fixed order. */
export function thumbprint({ x }: { readonly x: string }): string {
  return toBase64url(sha256(toUtf8(`{"crv":"Ed25519","kty":"OKP","x":${JSON.stringify(x)}}`)));
}

export function verifySignature(key: PublicKey, bytes: Uint8Array, signature: Uint8Array): boolean {
  if (signature.byteLength !== 64 || hasSmallOrderR(signature)) return false;
  return verify(null, bytes, key.keyObject, signature);
}

export function generateKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { privateKey, publicKey: admitPublicKey(publicKey.export({ format: 'jwk' })) };
}

/** The pair of an RFC 8032 secret seed of 32 bytes. */
export function keyPairFromSeed(seed: Uint8Array): KeyPair {
  if (seed.byteLength !== 32) throw new RangeError('an Ed25519 seed has 32 bytes');
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: admitPublicKey(createPublicKey(privateKey).export({ format: 'jwk' })) };
}

/** The secret seed of a private key, for key custody to encrypt; keep it no longer than that takes. */
export function seedOf(privateKey: KeyObject): Uint8Array {
  const { d } = privateKey.export({ format: 'jwk' });
  const seed = d === undefined ? undefined : fromBase64url(d);
  if (!seed) throw new TypeError('not an Ed25519 private key');
  return seed;
}

export function signWith(privateKey: KeyObject, bytes: Uint8Array): Uint8Array {
  return new Uint8Array(sign(null, bytes, privateKey));
}

/** The custody port over a key in memory. */
export function signerOf(privateKey: KeyObject): Sign {
  return async (bytes) => signWith(privateKey, bytes);
}

function isPrimeOrderPoint(bytes: Uint8Array): boolean {
  try {
    const point = Point.fromBytes(bytes, false);
    return !point.isSmallOrder() && point.isTorsionFree() && toBase64url(point.toBytes()) === toBase64url(bytes);
  } catch {
    return false;
  }
}

function buildPublicKey(x: string, bytes: Uint8Array): PublicKey {
  const jwk: PublicJwk = { kty: 'OKP', crv: 'Ed25519', x };
  const keyObject = createPublicKey({ key: jwk, format: 'jwk' });
  return { jwk, bytes, thumbprint: thumbprint(jwk), keyObject, [proof]: 'public key' };
}

/** Node 20 accepts a small-order R and Node 24 does not: refused here, so that two domains never differ by their Node. */
function hasSmallOrderR(signature: Uint8Array): boolean {
  const r = Buffer.from(signature.subarray(0, 32));
  r[31] = (r[31] ?? 0) & 0x7f;
  return SMALL_ORDER.has(r.toString('hex'));
}
