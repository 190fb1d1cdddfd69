import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Point, utils } from '@noble/ed25519';
import { describe, expect, test } from 'vitest';
import {
  admitPublicKey,
  generateKeyPair,
  keyPairFromSeed,
  Problem,
  readPublicKey,
  SMALL_ORDER_ENCODINGS,
  seedOf,
  signWith,
  thumbprint,
  toBase64url,
  toUtf8,
  verifySignature,
} from '../../src/protocol/index.js';

const hex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
const jwkOf = (bytes: Uint8Array) => ({ kty: 'OKP', crv: 'Ed25519', x: toBase64url(bytes) });

type Wycheproof = {
  testGroups: { publicKey: { pk: string }; tests: { tcId: number; msg: string; sig: string; result: string }[] }[];
};
const wycheproof: Wycheproof = JSON.parse(
  readFileSync(new URL('./vectors/wycheproof-ed25519.json', import.meta.url), 'utf8'),
);

const RFC_8032 = [
  {
    seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
];

describe('signatures', () => {
  test.each(RFC_8032)(
    'the RFC 8032 vector of message "$message" is reproduced',
    ({ seed, publicKey, message, signature }) => {
      const pair = keyPairFromSeed(hex(seed));
      expect(Buffer.from(pair.publicKey.bytes).toString('hex')).toBe(publicKey);
      expect(Buffer.from(signWith(pair.privateKey, hex(message))).toString('hex')).toBe(signature);
      expect(verifySignature(pair.publicKey, hex(message), hex(signature))).toBe(true);
      expect(Buffer.from(seedOf(pair.privateKey)).toString('hex')).toBe(seed);
    },
  );

  test('every Wycheproof vector gets its published verdict', () => {
    let count = 0;
    for (const { publicKey, tests } of wycheproof.testGroups) {
      const read = readPublicKey(jwkOf(hex(publicKey.pk)));
      for (const { tcId, msg, sig, result } of tests) {
        const held = read.ok && verifySignature(read.key, hex(msg), hex(sig));
        expect({ tcId, held }).toEqual({ tcId, held: result === 'valid' });
        count += 1;
      }
    }
    expect(count).toBe(151);
  });

  test('a signature whose R has small order is refused on every Node, although its equation holds', async () => {
    const pair = keyPairFromSeed(hex(RFC_8032[0]?.seed ?? ''));
    const { scalar } = await utils.getExtendedPublicKeyAsync(seedOf(pair.privateKey));
    const message = toUtf8('x');
    const r = Point.ZERO.toBytes();
    const hash = createHash('sha512').update(r).update(pair.publicKey.bytes).update(message).digest();
    const order = Point.CURVE().n;
    const s = (BigInt(`0x${hash.reverse().toString('hex')}`) * scalar) % order;
    const little = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse();
    const signature = new Uint8Array([...r, ...little]);
    const k = BigInt(`0x${hash.toString('hex')}`) % order;
    expect(Point.BASE.multiply(s).equals(Point.fromBytes(pair.publicKey.bytes).multiply(k))).toBe(true);
    expect(verifySignature(pair.publicKey, message, signature)).toBe(false);
  });

  test('a signature of 63 or 65 bytes is refused', () => {
    const { privateKey, publicKey } = generateKeyPair();
    const signature = signWith(privateKey, toUtf8('x'));
    expect(verifySignature(publicKey, toUtf8('x'), signature)).toBe(true);
    expect(verifySignature(publicKey, toUtf8('x'), signature.subarray(0, 63))).toBe(false);
    expect(verifySignature(publicKey, toUtf8('x'), new Uint8Array([...signature, 0]))).toBe(false);
  });
});

describe('admission of public keys', () => {
  test('the RFC 8037 key has its published thumbprint', () => {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
    expect(thumbprint(jwk)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
    expect(admitPublicKey(jwk).thumbprint).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  });

  test('no encoding of a small-order point is admitted', () => {
    for (const encoding of SMALL_ORDER_ENCODINGS) {
      for (const sign of [0, 0x80]) {
        const bytes = hex(encoding);
        bytes[31] = (bytes[31] ?? 0) | sign;
        expect(readPublicKey(jwkOf(bytes)).ok).toBe(false);
      }
    }
  });

  test('the table holds every small-order point there is', () => {
    const generator = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05');
    let point = generator;
    for (let index = 0; index < 8; index += 1) {
      const bytes = point.toBytes();
      bytes[31] = (bytes[31] ?? 0) & 0x7f;
      expect(SMALL_ORDER_ENCODINGS).toContain(Buffer.from(bytes).toString('hex'));
      point = point.add(generator);
    }
  });

  test('a point of mixed order is not admitted', () => {
    const torsion = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05');
    expect(readPublicKey(jwkOf(Point.BASE.add(torsion).toBytes())).ok).toBe(false);
    expect(readPublicKey(jwkOf(Point.BASE.toBytes())).ok).toBe(true);
  });

  test('a key is admitted once and the same object comes back', () => {
    const { publicKey } = generateKeyPair();
    expect(admitPublicKey({ ...publicKey.jwk, kid: 'anything' })).toBe(publicKey);
  });

  const { x } = generateKeyPair().publicKey.jwk;
  test.each([
    ['not an object', 'x'],
    ['null', null],
    ['another type', { kty: 'EC', crv: 'Ed25519', x }],
    ['another curve', { kty: 'OKP', crv: 'X25519', x }],
    ['a private key', { kty: 'OKP', crv: 'Ed25519', x, d: x }],
    ['no x', { kty: 'OKP', crv: 'Ed25519' }],
    ['31 bytes', { kty: 'OKP', crv: 'Ed25519', x: x.slice(0, 42) }],
    ['trailing bits', { kty: 'OKP', crv: 'Ed25519', x: `${x.slice(0, 42)}${x.endsWith('9') ? '-' : '9'}` }],
    ['no point of the curve', jwkOf(hex(`02${'00'.repeat(31)}`))],
  ])('%s is refused with a Problem', (_, jwk) => {
    expect(() => admitPublicKey(jwk)).toThrow(Problem);
  });
});
