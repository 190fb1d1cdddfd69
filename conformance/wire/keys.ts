// Ed25519 keys by Node's own crypto, made from a seed so that a played domain keeps its keys between runs.
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { base64url, sha256 } from './encoding.js';

export interface Jwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
}

export interface SigningKey {
  readonly jwk: Jwk;
  /** The RFC 7638 thumbprint. */
  readonly kid: string;
  readonly seed: Uint8Array;
  sign(bytes: Uint8Array | string): Buffer;
}

const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

export function keyFromSeed(seed: Uint8Array): SigningKey {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
  const jwk: Jwk = { kty: 'OKP', crv: 'Ed25519', x: createPublicKey(key).export({ format: 'jwk' }).x ?? '' };
  return { jwk, kid: thumbprintOf(jwk.x), seed, sign: (bytes) => sign(null, Buffer.from(bytes), key) };
}

export function thumbprintOf(x: string): string {
  return base64url(sha256(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`));
}

export function verifies(x: string, bytes: Uint8Array | string, signature: Uint8Array): boolean {
  const key = publicKeyOf(x);
  return key !== undefined && signature.byteLength === 64 && verify(null, Buffer.from(bytes), key, signature);
}

function publicKeyOf(x: string): KeyObject | undefined {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch {
    return undefined;
  }
}

const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The same signature with S + L, which careless verifiers take for good. */
export function malleated(signature: Uint8Array): Buffer {
  const changed = Buffer.from(signature);
  let sum = groupOrder;
  for (let at = 63; at >= 32; at -= 1) sum += BigInt(signature[at] ?? 0) << BigInt(8 * (at - 32));
  for (let at = 32; at < 64; at += 1) changed[at] = Number((sum >> BigInt(8 * (at - 32))) & 255n);
  return changed;
}

/** A point of order 8, in its canonical encoding. */
export const smallOrderKey: Jwk = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: base64url(Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'hex')),
};
