import { verifySignature as verifyMessage } from 'http-message-sig';
import { describe, expect, test } from 'vitest';
import {
  admitPublicKey,
  contentDigestHeader,
  domainKeyRef,
  LIMITS,
  Problem,
  type ReceivedRequest,
  type RequestToSign,
  signRequest,
  toBase64url,
  toUtf8,
  verifyRequest,
  verifySignature,
} from '../../src/protocol/index.js';
import { ALPHA, BETA, DOMAIN_KEY, DOMAIN_KEY_REF, later, NOW, OTHER_KEY, seconds } from './fixtures.js';

const BODY = toUtf8('{"origin":"alpha.test"}');
const URI = 'https://beta.test/federation/v1/transactions/txn_1';
const NONCE = toBase64url(new Uint8Array(16).fill(7));

const put: RequestToSign = {
  method: 'PUT',
  targetUri: URI,
  body: BODY,
  contentType: 'application/json',
  origin: ALPHA,
  destination: BETA,
  keyRef: DOMAIN_KEY_REF,
  created: NOW,
  nonce: NONCE,
  sign: DOMAIN_KEY.sign,
};
const get: RequestToSign = (({ body, contentType, ...rest }) => ({ ...rest, method: 'GET' }))(put);

async function received(request: RequestToSign, change: Partial<ReceivedRequest> = {}): Promise<ReceivedRequest> {
  return {
    method: request.method,
    targetUri: request.targetUri,
    headers: Object.entries(await signRequest(request)),
    body: request.body ?? new Uint8Array(),
    now: NOW,
    destination: BETA,
    keyFor: async (keyRef) => (keyRef === DOMAIN_KEY_REF ? DOMAIN_KEY.publicKey : undefined),
    ...change,
  };
}

/** `code/component` of the refusal, or `verified`. */
async function verdict(request: ReceivedRequest): Promise<string> {
  try {
    await verifyRequest(request);
  } catch (error) {
    if (error instanceof Problem) return `${error.code}/${error.extra?.component}`;
    throw error;
  }
  return 'verified';
}

function withHeader(request: ReceivedRequest, name: string, edit: (value: string) => string): ReceivedRequest {
  return { ...request, headers: request.headers.map(([n, value]) => [n, n === name ? edit(value) : value]) };
}

/** A request signed by the right key whose signature parameters were changed before signing. */
async function signedWith(edit: (input: string) => string): Promise<ReceivedRequest> {
  const request = await received(put);
  const input = edit(new Map(request.headers).get('signature-input') ?? '').replace(/^fed=/, '');
  const values: Record<string, string> = {
    '@method': 'PUT',
    '@target-uri': URI,
    'content-digest': contentDigestHeader(BODY),
    'content-type': 'application/json',
    'fed-origin': ALPHA,
    'fed-destination': BETA,
    '@authority': 'beta.test',
  };
  const covered = [...(/^\(([^)]*)\)/.exec(input)?.[1] ?? '').matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? '');
  const base = [...covered.map((name) => `"${name}": ${values[name]}`), `"@signature-params": ${input}`].join('\n');
  const signature = Buffer.from(await DOMAIN_KEY.sign(toUtf8(base))).toString('base64');
  return {
    ...request,
    headers: [
      ...request.headers.filter(([name]) => !name.startsWith('signature')),
      ['signature-input', `fed=${input}`],
      ['signature', `fed=:${signature}:`],
    ],
  };
}

describe('signed requests', () => {
  test('a signed PUT is verified, and says who sent it', async () => {
    expect(await verifyRequest(await received(put))).toMatchObject({
      origin: ALPHA,
      destination: BETA,
      keyRef: DOMAIN_KEY_REF,
      nonce: NONCE,
      created: NOW,
      expires: later(300_000),
    });
  });

  test('a signed GET carries no body and no content components', async () => {
    const request = await received(get);
    expect(request.headers.map(([name]) => name)).not.toContain('content-digest');
    expect(await verdict(request)).toBe('verified');
    expect(await verdict({ ...request, body: toUtf8('x') })).toBe('signature_invalid/content-digest');
  });

  test('signing rebuilt by hand from the profile gives a request that verifies', async () => {
    expect(await verdict(await signedWith((input) => input))).toBe('verified');
  });

  test('header names in another case and stray headers change nothing', async () => {
    const request = await received(put);
    const headers = [...request.headers.map(([n, v]) => [n.toUpperCase(), v] as const), ['x-real-ip', 'ü'] as const];
    expect(await verdict({ ...request, headers })).toBe('verified');
  });

  test('the RFC 9421 B.2.6 vector holds with our verifier', async () => {
    const key = admitPublicKey({ kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' });
    const fields = Object.entries({
      host: 'example.com',
      date: 'Tue, 20 Apr 2021 02:07:55 GMT',
      'content-type': 'application/json',
      'content-length': '18',
      'signature-input':
        'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
      signature: 'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:',
    }).map(([name, value]) => ({ name, value }));
    const verified = await verifyMessage(
      { kind: 'request', method: 'POST', targetUri: 'https://example.com/foo?param=Value&Pet=dog', fields },
      {
        policy: {
          algorithms: ['ed25519'],
          requiredComponents: ['date'],
          requiredParameters: ['created'],
          now: 1618884473,
        },
        resolveVerifier: () => ({
          algorithm: 'ed25519',
          verify: (data, signature) => verifySignature(key, data, signature),
        }),
      },
    );
    expect(verified.label).toBe('sig-b26');
  });
});

describe('what was signed cannot be changed', () => {
  test.each([
    ['the method', 'signature_invalid/signature', { method: 'POST' }],
    ['the path', 'signature_invalid/signature', { targetUri: `${URI}/` }],
    ['an escape in the path', 'signature_invalid/signature', { targetUri: URI.replace('txn', '%74xn') }],
    ['the authority', 'signature_invalid/signature', { targetUri: URI.replace('beta', 'proxy') }],
    ['the scheme', 'signature_invalid/signature', { targetUri: URI.replace('https', 'http') }],
    ['the body', 'digest_mismatch/content-digest', { body: toUtf8('{"origin":"omega.test"}') }],
    ['the destination', 'wrong_destination/fed-destination', { destination: ALPHA }],
  ])('BR-08 BR-77 another %s is refused, and named', async (_, expected, change) => {
    expect(await verdict(await received(put, change))).toBe(expected);
  });

  test('BR-08 a swapped body with a digest to match is refused', async () => {
    const body = toUtf8('{}');
    const request = withHeader(await received(put, { body }), 'content-digest', () => contentDigestHeader(body));
    expect(await verdict(request)).toBe('signature_invalid/signature');
  });

  test.each([
    ['content-type', 'text/plain', 'signature_invalid/signature'],
    ['fed-origin', 'gamma.test', 'signature_invalid/keyid'],
    ['fed-origin', 'ALPHA.test', 'signature_invalid/fed-origin'],
    ['fed-destination', 'gamma.test', 'wrong_destination/fed-destination'],
    ['signature', 'fed=:AAAA:', 'signature_invalid/signature'],
    ['signature', 'other=:AAAA:', 'signature_invalid/signature-input'],
    ['signature-input', 'fed=garbage', 'signature_invalid/signature-input'],
  ])('another %s (%s) is refused', async (name, value, expected) => {
    expect(await verdict(withHeader(await received(put), name, () => value))).toBe(expected);
  });

  test.each(['content-digest', 'content-type', 'fed-origin', 'fed-destination', 'signature', 'signature-input'])(
    'a missing or repeated %s is refused and named',
    async (name) => {
      const request = await received(put);
      const value = new Map(request.headers).get(name) ?? '';
      expect(await verdict({ ...request, headers: request.headers.filter(([n]) => n !== name) })).toBe(
        `signature_invalid/${name}`,
      );
      const repeated = [...request.headers, [name.toUpperCase(), value] as const];
      expect(await verdict({ ...request, headers: repeated })).toBe(`signature_invalid/${name}`);
    },
  );

  test.each(['@method', '@target-uri', 'content-digest', 'content-type', 'fed-origin', 'fed-destination'])(
    'BR-08 a request that leaves %s out of what is signed is refused',
    async (name) => {
      const request = await signedWith((input) => input.replace(new RegExp(`"${name}" ?`), '').replace(' )', ')'));
      expect(await verdict(request)).toMatch(/^signature_invalid/);
    },
  );

  test.each([
    ['one more component', (input: string) => input.replace(')', ' "@authority")')],
    ['another tag', (input: string) => input.replace('agent-federation/1', 'agent-federation/2')],
    ['no tag', (input: string) => input.replace(/;tag="[^"]*"/, '')],
    ['another algorithm', (input: string) => input.replace('"ed25519"', '"hmac-sha256"')],
    ['no algorithm', (input: string) => input.replace(';alg="ed25519"', '')],
    ['no nonce', (input: string) => input.replace(/;nonce="[^"]*"/, '')],
    ['no created', (input: string) => input.replace(/;created=\d+/, '')],
    ['no expires', (input: string) => input.replace(/;expires=\d+/, '')],
    ['no keyid', (input: string) => input.replace(/;keyid="[^"]*"/, '')],
    ['created twice', (input: string) => input.replace(/(;created=\d+)/, '$1$1')],
    ['a created that is text', (input: string) => input.replace(/created=(\d+)/, 'created="$1"')],
    [
      'the key of a principal',
      (input: string) => input.replace(/keyid="[^"]*"/, 'keyid="key://alpha.test/agents/asker/1"'),
    ],
    ['a component with a parameter', (input: string) => input.replace('"fed-origin"', '"fed-origin";key="x"')],
  ])('a well-signed request with %s is refused', async (_, edit) => {
    expect(await verdict(await signedWith(edit))).toMatch(/^signature_invalid/);
  });

  test('a second signature beside ours is refused', async () => {
    const request = await received(put);
    const doubled = {
      ...request,
      headers: request.headers.map(
        ([n, v]) => [n, n.startsWith('signature') ? `${v}, ${v.replace('fed=', 'two=')}` : v] as const,
      ),
    };
    expect(await verdict(doubled)).toBe('signature_invalid/signature-input');
  });

  test('BR-09 a key of another domain does not sign for this one', async () => {
    const foreign = { ...put, keyRef: domainKeyRef(BETA, OTHER_KEY.kid), sign: OTHER_KEY.sign };
    const request = await received(foreign, { keyFor: async () => OTHER_KEY.publicKey });
    expect(await verdict(request)).toBe('signature_invalid/keyid');
  });

  test('an unknown key and a wrong key are refused', async () => {
    expect(await verdict(await received(put, { keyFor: async () => undefined }))).toBe('signature_invalid/keyid');
    expect(await verdict(await received(put, { keyFor: async () => OTHER_KEY.publicKey }))).toBe(
      'signature_invalid/signature',
    );
  });

  test('what the key lookup throws comes out as it is, so that an unreachable peer stays retryable', async () => {
    const failure = new Error('peer unreachable');
    const request = await received(put, { keyFor: () => Promise.reject(failure) });
    await expect(verifyRequest(request)).rejects.toBe(failure);
  });

  test('no key is asked for before the cheap checks have passed', async () => {
    let asked = 0;
    const keyFor = async () => {
      asked += 1;
      return DOMAIN_KEY.publicKey;
    };
    await verdict(await received(put, { keyFor, body: toUtf8('x') }));
    await verdict(await received(put, { keyFor, now: later(301_000) }));
    await verdict(await received(put, { keyFor, destination: ALPHA }));
    expect(asked).toBe(0);
  });
});

describe('time and nonce', () => {
  test.each([
    ['300 s ahead', -300_000, 'verified'],
    ['301 s ahead', -301_000, /signature_invalid/],
    ['299 s old', 299_000, 'verified'],
    ['300 s old', 300_000, 'signature_invalid/expires'],
  ])('BR-10 a request made %s', async (_, ms, expected) => {
    expect(await verdict(await received(put, { now: later(ms) }))).toMatch(expected);
  });

  test('expires may lie 300 s after created and not 301', async () => {
    const expiresAfter = (s: number) =>
      signedWith((input) => input.replace(/expires=\d+/, `expires=${seconds(NOW) + s}`));
    expect(await verdict(await expiresAfter(300))).toBe('verified');
    expect(await verdict(await expiresAfter(301))).toBe('signature_invalid/expires');
    expect(await verdict(await expiresAfter(0))).toBe('signature_invalid/expires');
  });

  test.each([
    [LIMITS.nonceBytesMin - 1, 'signature_invalid/nonce'],
    [LIMITS.nonceBytesMin, 'verified'],
    [LIMITS.nonceBytesMax, 'verified'],
    [LIMITS.nonceBytesMax + 1, 'signature_invalid/nonce'],
  ])('a nonce of %i bytes: %s', async (bytes, expected) => {
    expect(await verdict(await received({ ...put, nonce: toBase64url(new Uint8Array(bytes)) }))).toBe(expected);
  });

  test('a signature is remembered for as long as it can be valid', () => {
    expect(LIMITS.nonceMemoryMs).toBe(LIMITS.clockSkewMs + LIMITS.signatureWindowMs);
  });
});
