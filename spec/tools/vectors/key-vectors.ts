// Public keys and their thumbprints, signatures, and the ids of principals.
import {
  canonicalize,
  homeTagOf,
  keyPairFromSeed,
  principalIdOf,
  SMALL_ORDER_ENCODINGS,
  signWith,
  toBase64url,
  toUtf8,
} from '../../../src/protocol/index.js';
import { ASKER, JUDGE, KEYS, seedFor, WORKER, type WorldPrincipal } from '../world.js';
import { invalid, type VectorFile, valid } from './vector-file.js';

const hex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
const jwk = (x: string, change: object = {}) => ({ kty: 'OKP', crv: 'Ed25519', x, ...change });
const fromHex = (text: string) => jwk(toBase64url(hex(text)));

/** A point of mixed order: the base point plus a point of order eight. */
const MIXED_ORDER = '98519eadf35b995233b51b5cd23e9cc5a28b639b5a4af0ec903cb960d81b7819';
const NOT_ON_CURVE = `02${'00'.repeat(31)}`;
/** y = p + 1, which is 1 written a second time, and y = 2^255 - 1. */
const NON_CANONICAL = [`ee${'ff'.repeat(30)}7f`, `${'ff'.repeat(31)}7f`, `ee${'ff'.repeat(30)}ff`];

export function keyVectors(): VectorFile {
  const rfc = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
  return {
    about: 'Public keys as JWK with the RFC 7638 thumbprint of those that are admitted.',
    vectors: [
      valid('RFC 8037 A.3', { jwk: jwk(rfc), expect: { thumbprint: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k' } }),
      ...Object.values(KEYS).map((key) => valid(key.name, { jwk: key.jwk, expect: { thumbprint: key.kid } })),
      ...SMALL_ORDER_ENCODINGS.map((text, index) =>
        invalid(`small order ${index + 1}`, 'key_invalid', { jwk: fromHex(text) }),
      ),
      ...NON_CANONICAL.map((text, index) =>
        invalid(`not canonical ${index + 1}`, 'key_invalid', { jwk: fromHex(text) }),
      ),
      invalid('mixed order', 'key_invalid', { jwk: fromHex(MIXED_ORDER) }),
      invalid('not on the curve', 'key_invalid', { jwk: fromHex(NOT_ON_CURVE) }),
      invalid('31 bytes', 'key_invalid', { jwk: jwk(toBase64url(new Uint8Array(31))) }),
      invalid('padding', 'key_invalid', { jwk: jwk(`${rfc}=`) }),
      invalid('trailing bits', 'key_invalid', { jwk: jwk(`${rfc.slice(0, 42)}p`) }),
      invalid('another curve', 'key_invalid', { jwk: jwk(rfc, { crv: 'X25519' }) }),
      invalid('a private key', 'key_invalid', { jwk: jwk(rfc, { d: toBase64url(seedFor('asker')) }) }),
    ],
  };
}

const ORDER = (1n << 252n) + 27742317777372353535851937790883648493n;

export function signatureVectors(): VectorFile {
  const { privateKey, publicKey } = keyPairFromSeed(seedFor('signatures'));
  const message = toUtf8('agent-federation/1 envelope\n{}');
  const signature = signWith(privateKey, message);
  const of = (text: Uint8Array, made: Uint8Array, key = publicKey.jwk) => ({
    jwk: key,
    message: toBase64url(text),
    signature: toBase64url(made),
  });
  const changed = (at: number) => signature.map((byte, index) => (index === at ? byte ^ 1 : byte));
  const bad = (name: string, members: object) => invalid(name, 'signature_invalid', { ...members });
  return {
    about: 'Ed25519 signatures. Message and signature are base64url. Wycheproof has more, under test/protocol/vectors.',
    vectors: [
      valid('a message', of(message, signature)),
      valid('an empty message', of(new Uint8Array(), signWith(privateKey, new Uint8Array()))),
      bad('another message', of(toUtf8('agent-federation/1 genesis\n{}'), signature)),
      bad('another key', of(message, signature, KEYS.stranger.jwk)),
      bad('a changed R', of(message, changed(0))),
      bad('a changed S', of(message, changed(40))),
      bad('S plus the group order', of(message, withOrder(signature))),
      bad('63 bytes', of(message, signature.slice(0, 63))),
      bad('65 bytes', of(message, new Uint8Array([...signature, 0]))),
      bad('R of small order', of(message, new Uint8Array([1, ...new Uint8Array(31), ...signature.slice(32)]))),
      bad('all zero', of(message, new Uint8Array(64))),
    ],
  };
}

/** The same signature with S + L: a verifier that does not bound S accepts it as a second signature. */
function withOrder(signature: Uint8Array): Uint8Array {
  let s = ORDER;
  for (let at = 63; at >= 32; at -= 1) s += BigInt(signature[at] ?? 0) << BigInt(8 * (at - 32));
  const out = signature.slice();
  for (let at = 32; at < 64; at += 1) out[at] = Number((s >> BigInt(8 * (at - 32))) & 255n);
  return out;
}

export function principalVectors(): VectorFile {
  const of = ({ record, principalId, home }: WorldPrincipal) => ({
    record,
    canonical: canonicalize(record),
    expect: { principal_id: principalId, home_tag: home },
  });
  const { record } = ASKER;
  const { salt: _, ...saltless } = record;
  return {
    about: 'Genesis records and the principal ids that they give. `canonical` is what the prefix is put before.',
    vectors: [
      valid('an agent', of(ASKER)),
      valid('an agent elsewhere', of(WORKER)),
      valid('a human', of(JUDGE)),
      valid('another salt', withSalt(record, 'AAAAAAAAAAAAAAAAAAAAAA')),
      invalid('no salt', 'genesis_malformed', { record: saltless }),
      invalid('a short salt', 'genesis_malformed', { record: { ...record, salt: 'AAAA' } }),
      invalid('another member', 'genesis_malformed', { record: { ...record, note: '' } }),
      invalid('no address', 'genesis_malformed', { record: { ...record, address: 'asker' } }),
      invalid('a member too many in the key', 'genesis_malformed', {
        record: { ...record, first_key: { ...record.first_key, kid: 'a' } },
      }),
    ],
  };
}

function withSalt(before: WorldPrincipal['record'], salt: string) {
  const record = { ...before, salt };
  const principalId = principalIdOf(record);
  return {
    record,
    canonical: canonicalize(record),
    expect: { principal_id: principalId, home_tag: homeTagOf(principalId) },
  };
}
