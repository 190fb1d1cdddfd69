import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  contentDigestHeader,
  digestOf,
  formatInstant,
  fromBase64url,
  isDigest,
  parseInstant,
  signingBytes,
  toBase64url,
  toUtf8,
  verifyContentDigest,
} from '../../src/protocol/index.js';

const SEED = { seed: 11, numRuns: 300 };

describe('base64url', () => {
  test('every byte string comes back from its text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        expect(fromBase64url(toBase64url(bytes))).toEqual(bytes);
      }),
      SEED,
    );
  });

  test('a text is accepted only when it is the one spelling of its bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'AQgwZ_-+/= '), maxLength: 9 }), (text) => {
        const bytes = fromBase64url(text);
        if (bytes) expect(toBase64url(bytes)).toBe(text);
      }),
      SEED,
    );
  });

  test.each(['A', 'AB==', 'A+/=', 'AB', 'A B', 'AAAA\n', 'é'])('%j is refused', (text) => {
    expect(fromBase64url(text)).toBeUndefined();
  });
});

describe('digests', () => {
  test('the digest of no bytes is the published one', () => {
    expect(digestOf(new Uint8Array())).toBe('sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  test.each(['sha256:', `sha256:${'A'.repeat(64)}`, `sha512:${'a'.repeat(64)}`, `sha256:${'a'.repeat(65)}`])(
    '%s is no digest',
    (text) => expect(isDigest(text)).toBe(false),
  );

  test('BR-08 the Content-Digest of other bytes does not hold', () => {
    const body = toUtf8('{"a":1}');
    expect(verifyContentDigest(contentDigestHeader(body), body)).toBe(true);
    expect(verifyContentDigest(contentDigestHeader(body), toUtf8('{"a":2}'))).toBe(false);
  });

  test('the RFC 9530 sample holds, beside another algorithm too', () => {
    const body = toUtf8('{"hello": "world"}');
    const field = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:';
    expect(contentDigestHeader(body)).toBe(field);
    expect(verifyContentDigest(`sha-512=:AAAA:, ${field}`, body)).toBe(true);
  });

  test.each([
    '',
    'sha-256=:AAAA:',
    'sha-512=:AAAA:',
    'md5=:AAAA:',
    'sha-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=',
  ])('the field %j does not hold', (field) =>
    expect(verifyContentDigest(field, toUtf8('{"hello": "world"}'))).toBe(false),
  );

  test('a sha-256 member twice does not hold, even when both are right', () => {
    const body = toUtf8('x');
    expect(verifyContentDigest(`${contentDigestHeader(body)}, ${contentDigestHeader(body)}`, body)).toBe(false);
  });
});

describe('instants', () => {
  test('every instant comes back from its text', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date(253_402_300_799_999), noInvalidDate: true }), (date) => {
        expect(parseInstant(formatInstant(date))).toEqual(date);
      }),
      SEED,
    );
  });

  test.each([
    '2026-08-17T09:30:00Z',
    '2026-08-17T09:30:00.000+00:00',
    '2026-02-29T00:00:00.000Z',
    '2026-02-30T00:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '0000-01-01T00:00:00.000Z',
    '2026-01-01T24:00:00.000Z',
    '2026-01-01T00:00:60.000Z',
    '2026-01-01t00:00:00.000z',
    ' 2026-01-01T00:00:00.000Z',
    '+002026-01-01T00:00:00.000Z',
  ])('%s is no instant', (text) => expect(parseInstant(text)).toBeUndefined());

  test('a year of five digits has no form', () => {
    expect(() => formatInstant(new Date(253_402_300_800_000))).toThrow(RangeError);
  });
});

test('a signature for one purpose is over other bytes than for another', () => {
  const bytes = toUtf8('x');
  expect(Buffer.from(signingBytes('envelope', bytes)).toString()).toBe('agent-federation/1 envelope\nx');
  expect(signingBytes('genesis', bytes)).not.toEqual(signingBytes('transfer', bytes));
});
