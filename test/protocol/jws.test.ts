import { describe, expect, test } from 'vitest';
import {
  assembleJws,
  holdingSignatures,
  type JwsType,
  proveJws,
  readDocument,
  readJws,
  sealDocument,
  toBase64url,
  toUtf8,
} from '../../src/protocol/index.js';
import { DOMAIN_KEY, NEXT_KEY, OTHER_KEY } from './fixtures.js';

const TYP: JwsType = 'receipt+jwt';
const keys = (kid: string) => (kid === DOMAIN_KEY.kid ? DOMAIN_KEY.publicKey : undefined);
const options = { typ: TYP, keys, maxBytes: 10_000 };

async function verifyJws(token: string, { maxBytes, ...rest }: typeof options) {
  const read = readJws(token, maxBytes);
  return read.ok ? proveJws(read, rest) : read;
}

async function tokenWith(header: string, payload: string): Promise<string> {
  const input = `${toBase64url(toUtf8(header))}.${toBase64url(toUtf8(payload))}`;
  return `${input}.${toBase64url(await DOMAIN_KEY.sign(toUtf8(input)))}`;
}

const goodHeader = (extra = '') => `{"alg":"Ed25519","typ":"${TYP}","kid":"${DOMAIN_KEY.kid}"${extra}}`;

describe('compact tokens', () => {
  test('what is assembled is verified, with its kid and payload', async () => {
    const token = await assembleJws({ typ: TYP, kid: DOMAIN_KEY.kid, payload: { b: 1, a: 'é' } }, DOMAIN_KEY.sign);
    expect(await verifyJws(token, options)).toMatchObject({ ok: true, kid: DOMAIN_KEY.kid, payload: { a: 'é', b: 1 } });
  });

  test('jku, jwk and x5u are ignored: the key comes from the records of the reader', async () => {
    const extra = `,"jwk":${JSON.stringify(OTHER_KEY.jwk)},"jku":"https://evil.example/keys","x5u":"https://evil.example"`;
    expect(await verifyJws(await tokenWith(goodHeader(extra), '{}'), options)).toMatchObject({ ok: true });
  });

  test.each([
    ['alg EdDSA', `{"alg":"EdDSA","typ":"${TYP}","kid":"${DOMAIN_KEY.kid}"}`],
    ['alg none', `{"alg":"none","typ":"${TYP}","kid":"${DOMAIN_KEY.kid}"}`],
    ['alg HS256', `{"alg":"HS256","typ":"${TYP}","kid":"${DOMAIN_KEY.kid}"}`],
    ['no alg', `{"typ":"${TYP}","kid":"${DOMAIN_KEY.kid}"}`],
    ['no typ', `{"alg":"Ed25519","kid":"${DOMAIN_KEY.kid}"}`],
    ['no kid', `{"alg":"Ed25519","typ":"${TYP}"}`],
    ['crit', goodHeader(',"crit":["b64"],"b64":false')],
    ['a member twice', goodHeader(`,"kid":"${OTHER_KEY.kid}"`)],
    ['a header that is an array', '["alg"]'],
  ])('a header with %s is refused', async (_, header) => {
    expect(await verifyJws(await tokenWith(header, '{}'), options)).toMatchObject({
      ok: false,
      reason: 'jws_malformed',
    });
  });

  test('a payload with a duplicate member is refused although its signature holds', async () => {
    expect(await verifyJws(await tokenWith(goodHeader(), '{"a":1,"a":2}'), options)).toMatchObject({
      reason: 'jws_malformed',
    });
  });

  test('a token of another type is refused', async () => {
    const token = await assembleJws({ typ: 'bundle+jwt', kid: DOMAIN_KEY.kid, payload: {} }, DOMAIN_KEY.sign);
    expect(await verifyJws(token, options)).toMatchObject({ reason: 'jws_wrong_type' });
  });

  test('a token by an unknown key, or by another key under a known kid, is refused', async () => {
    const unknown = await assembleJws({ typ: TYP, kid: OTHER_KEY.kid, payload: {} }, OTHER_KEY.sign);
    expect(await verifyJws(unknown, options)).toMatchObject({ reason: 'jws_unknown_key' });
    const forged = await assembleJws({ typ: TYP, kid: DOMAIN_KEY.kid, payload: {} }, OTHER_KEY.sign);
    expect(await verifyJws(forged, options)).toMatchObject({ reason: 'jws_signature_invalid' });
  });

  test('every single changed character makes the token fail', async () => {
    const token = await assembleJws({ typ: TYP, kid: DOMAIN_KEY.kid, payload: { a: 1 } }, DOMAIN_KEY.sign);
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === 'A' ? 'B' : 'A';
      const changed = token.slice(0, at) + other + token.slice(at + 1);
      expect((await verifyJws(changed, options)).ok).toBe(false);
    }
  });

  test('a token of the allowed length is read, one byte less is too little', async () => {
    const token = await assembleJws({ typ: TYP, kid: DOMAIN_KEY.kid, payload: {} }, DOMAIN_KEY.sign);
    expect(readJws(token, token.length).ok).toBe(true);
    expect(readJws(token, token.length - 1)).toMatchObject({ reason: 'jws_malformed' });
  });

  test.each(['', 'a', 'a.b', 'a.b.c', 'a.b.c.d', '..'])('%j is no token', (text) =>
    expect(readJws(text, 100).ok).toBe(false),
  );
});

describe('documents signed by several keys', () => {
  const limits = { typ: TYP, maxBytes: 10_000, maxSignatures: 2 };
  const lookup = (kid: string) => [DOMAIN_KEY, NEXT_KEY].find((key) => key.kid === kid)?.publicKey;
  const forged = { kid: NEXT_KEY.kid, sign: OTHER_KEY.sign };

  test('only the signatures that hold are named', async () => {
    const text = await sealDocument(TYP, { a: 1 }, [DOMAIN_KEY, forged]);
    const document = readDocument(text, limits);
    if (!document.ok) throw new TypeError(document.detail);
    expect(document.payload).toEqual({ a: 1 });
    expect(await holdingSignatures(document, TYP, lookup)).toEqual(new Set([DOMAIN_KEY.kid]));
  });

  test('two signatures are read where two are allowed, three are not', async () => {
    const two = await sealDocument(TYP, {}, [DOMAIN_KEY, NEXT_KEY]);
    const three = await sealDocument(TYP, {}, [DOMAIN_KEY, NEXT_KEY, OTHER_KEY]);
    expect(readDocument(two, limits).ok).toBe(true);
    expect(readDocument(three, limits)).toMatchObject({ ok: false, reason: 'document_malformed' });
  });

  test('one key may sign only once', async () => {
    expect(readDocument(await sealDocument(TYP, {}, [DOMAIN_KEY, DOMAIN_KEY]), limits).ok).toBe(false);
  });

  test.each([
    '',
    '[]',
    '{}',
    '{"payload":"e30","signatures":[]}',
    '{"payload":"e30","signatures":[{}]}',
    '{"payload":1,"signatures":[]}',
  ])('%s is no document', (text) => expect(readDocument(text, limits).ok).toBe(false));
});
