// Signed requests between domains (RFC 9421), with the signature base that the signature is over.
import { domainKeyRef, signRequest, toBase64url, toUtf8 } from '../../../src/protocol/index.js';
import { ALPHA, ALPHA_KEY_REF, BETA, chance, instant, KEYS, later, NOW, TRANSACTION } from '../world.js';
import { invalid, type VectorFile, valid } from './vector-file.js';

interface RequestOfVector {
  method: string;
  target_uri: string;
  headers: [name: string, value: string][];
  body: string;
}

const PUT_URI = `https://beta.test/federation/v1/transactions/${TRANSACTION}`;
const GET_URI = 'https://beta.test/federation/v1/directory?limit=10';
const BODY = '{"origin":"alpha.test","destination":"beta.test"}';
const NONCE = toBase64url(chance('nonce')(18));

type Change = Partial<Parameters<typeof signRequest>[0]>;

async function signed(method: 'GET' | 'PUT', change: Change = {}): Promise<RequestOfVector> {
  const target = method === 'PUT' ? PUT_URI : GET_URI;
  const headers = await signRequest({
    method,
    targetUri: target,
    ...(method === 'PUT' ? { body: toUtf8(BODY), contentType: 'application/json' } : {}),
    origin: ALPHA,
    destination: BETA,
    keyRef: ALPHA_KEY_REF,
    created: NOW,
    nonce: NONCE,
    sign: KEYS.alpha.sign,
    ...change,
  });
  return { method, target_uri: target, headers: Object.entries(headers), body: method === 'PUT' ? BODY : '' };
}

/** Signs whatever base is wanted: for requests that the profile forbids. */
async function forged(request: RequestOfVector, input: string): Promise<RequestOfVector> {
  const headers = without(request, 'signature', 'signature-input');
  const base = baseOf({ ...request, headers }, input);
  const signature = Buffer.from(await KEYS.alpha.sign(toUtf8(base))).toString('base64');
  return {
    ...request,
    headers: [...headers, ['signature-input', `fed=${input}`], ['signature', `fed=:${signature}:`]],
  };
}

/** The signature base for a Signature-Input of one label, written out here a second time to compare with. */
function baseOf(request: RequestOfVector, input: string): string {
  const names = [...(/^\(([^)]*)\)/.exec(input)?.[1] ?? '').matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? '');
  const lines = names.map((name) => `"${name}": ${componentOf(request, name)}`);
  return [...lines, `"@signature-params": ${input}`].join('\n');
}

function componentOf(request: RequestOfVector, name: string): string {
  if (name === '@method') return request.method;
  if (name === '@target-uri') return request.target_uri;
  return request.headers.find(([header]) => header === name)?.[1] ?? '';
}

function inputOf({ headers }: RequestOfVector): string {
  return (headers.find(([name]) => name === 'signature-input')?.[1] ?? '').replace(/^fed=/, '');
}

function without(request: RequestOfVector, ...names: string[]): [string, string][] {
  return request.headers.filter(([name]) => !names.includes(name));
}

function withHeader(request: RequestOfVector, name: string, value: string): RequestOfVector {
  return { ...request, headers: request.headers.map(([header, old]) => [header, header === name ? value : old]) };
}

const CONTEXT = { keys: { [ALPHA_KEY_REF]: KEYS.alpha.jwk, [domainKeyRef(BETA, KEYS.beta.kid)]: KEYS.beta.jwk } };

export async function requestVectors(): Promise<VectorFile> {
  const put = await signed('PUT');
  const get = await signed('GET');
  const good = (name: string, request: RequestOfVector) =>
    valid(name, {
      destination: BETA,
      now: instant(),
      request,
      expect: { origin: ALPHA, key_ref: ALPHA_KEY_REF, nonce: NONCE, base: baseOf(request, inputOf(request)) },
    });
  const bad = (name: string, component: string, request: RequestOfVector, members: object = {}) =>
    invalid(name, 'signature_invalid', { destination: BETA, now: instant(), request, component, ...members });
  return {
    about:
      'Requests as received by `destination`. `component` is what a refusal names. Keys that the reader knows are in the context.',
    context: CONTEXT,
    vectors: [
      good('a transaction is put', put),
      good('a directory is read', get),
      good('made 300 s ahead', await signed('PUT', { created: later(300_000) })),
      {
        ...bad('a changed body', 'content-digest', { ...put, body: BODY.replace('beta', 'bete') }),
        reason: 'digest_mismatch',
      },
      {
        ...bad(
          'no sha-256 digest',
          'content-digest',
          withHeader(put, 'content-digest', 'md5=:AAAAAAAAAAAAAAAAAAAAAA==:'),
        ),
        reason: 'digest_mismatch',
      },
      {
        ...bad('another destination', 'fed-destination', put, { destination: 'gamma.test' }),
        reason: 'wrong_destination',
      },
      bad('another method', 'content-digest', { ...put, method: 'GET', headers: put.headers }),
      bad('another path', 'signature', { ...put, target_uri: `${PUT_URI}x` }),
      bad('another host', 'signature', { ...put, target_uri: PUT_URI.replace('beta.test', '127.0.0.1:7520') }),
      bad('another query', 'signature', { ...get, target_uri: GET_URI.replace('10', '11') }),
      bad('another content type', 'signature', withHeader(put, 'content-type', 'text/plain')),
      bad('another origin', 'keyid', withHeader(put, 'fed-origin', 'beta.test')),
      bad('no domain as origin', 'fed-origin', withHeader(put, 'fed-origin', 'Alpha.test')),
      bad('no signature', 'signature', { ...put, headers: without(put, 'signature') }),
      bad('no signature input', 'signature-input', { ...put, headers: without(put, 'signature-input') }),
      bad('no digest', 'content-digest', { ...put, headers: without(put, 'content-digest') }),
      bad('a header twice', 'fed-origin', { ...put, headers: [...put.headers, ['fed-origin', 'alpha.test']] }),
      bad('expired', 'expires', put, { now: instant(300_000) }),
      bad('made more than 300 s ahead', 'signature-input', put, { now: instant(-301_000) }),
      bad('signed by another key', 'signature', await signed('PUT', { sign: KEYS.stranger.sign })),
      bad(
        'a key of another domain',
        'keyid',
        await signed('PUT', { keyRef: domainKeyRef(BETA, KEYS.beta.kid), sign: KEYS.beta.sign }),
      ),
      bad(
        'an unknown key',
        'keyid',
        await signed('PUT', { keyRef: domainKeyRef(ALPHA, KEYS.stranger.kid), sign: KEYS.stranger.sign }),
      ),
      bad('a short nonce', 'nonce', await signed('PUT', { nonce: toBase64url(chance('short')(15)) })),
      bad('another tag', 'tag', await forged(put, inputOf(put).replace('agent-federation/1', 'agent-federation/2'))),
      bad(
        'another alg',
        'signature-input',
        await forged(put, inputOf(put).replace('alg="ed25519"', 'alg="hmac-sha256"')),
      ),
      bad(
        'a window of 301 s',
        'expires',
        await forged(
          put,
          inputOf(put).replace(/expires=\d+/, (text) => `expires=${Number(text.slice(8)) + 1}`),
        ),
      ),
      ...(await Promise.all(
        ['@method', '@target-uri', 'content-digest', 'content-type', 'fed-origin', 'fed-destination'].map(
          async (name) =>
            bad(
              `${name} left out of what is signed`,
              'signature-input',
              await forged(put, inputOf(put).replace(`"${name}" `, '').replace(` "${name}"`, '')),
            ),
        ),
      )),
      ...(await Promise.all(
        ['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'].map(async (name) =>
          bad(
            `no ${name}`,
            'signature-input',
            await forged(put, inputOf(put).replace(new RegExp(`;${name}=("[^"]*"|\\d+)`), '')),
          ),
        ),
      )),
      bad('another component is covered', '@authority', await forgedAuthority(put)),
    ],
  };
}

async function forgedAuthority(put: RequestOfVector): Promise<RequestOfVector> {
  return forged(put, inputOf(put).replace('("@method"', '("@method" "@authority"'));
}
