// Certificates of agents' keys.
import { principalKeyRef } from '../../../src/protocol/index.js';
import {
  ALPHA,
  ASKER,
  bundleKey,
  bundleOf,
  type CertificateChange,
  certificateOf,
  DAY_MS,
  HOUR_MS,
  instant,
  JUDGE,
  KEYS,
  later,
  type NamedKey,
  OTHER,
  WORKER,
} from '../world.js';
import { invalid, payloadOf, type VectorFile, valid } from './vector-file.js';

const bundles = {
  plain: bundleOf(),
  retired: bundleOf({
    keys: [bundleKey(KEYS.alphaNext)],
    retired_keys: [{ ...bundleKey(KEYS.alpha), expired_at: instant(-5000) }],
  }),
  'agent key revoked': bundleOf({ revoked: [{ subject: ASKER.keyRef, revoked_at: instant(), reason: '' }] }),
  'principal revoked': bundleOf({ revoked: [{ subject: ASKER.principalId, revoked_at: instant(), reason: '' }] }),
};

type Options = { change?: CertificateChange; signer?: NamedKey; bundle?: keyof typeof bundles; who?: typeof ASKER };

async function of({ change = {}, signer, bundle = 'plain', who = ASKER }: Options) {
  const token = await certificateOf(who, change, signer);
  return { bundle, now: instant(), token, payload: payloadOf(token) };
}

export async function certificateVectors(): Promise<VectorFile> {
  const good = async (name: string, options: Options = {}) => {
    const who = options.who ?? ASKER;
    const expect = { address: who.address, principal_id: who.principalId, key_ref: who.keyRef, x: who.key.jwk.x };
    return valid(name, { ...(await of(options)), expect });
  };
  const bad = async (name: string, options: Options) => invalid(name, 'certificate_invalid', await of(options));
  const token = await certificateOf(ASKER);
  const plain = await of({});
  return {
    about: 'Certificates of agents’ keys, read against the named bundle of alpha.test.',
    context: { bundles },
    vectors: [
      await good("an agent's key"),
      await good("a human's key", { who: JUDGE }),
      await good('24 hours', { change: { expiresAt: later(24 * HOUR_MS - 10_000) } }),
      await good('issued 300 s ahead', { change: { issuedAt: later(300_000) } }),
      await good('before the domain key retired', { bundle: 'retired' }),
      await bad('after the domain key retired', { bundle: 'retired', change: { issuedAt: later(-5000) } }),
      await bad('issued more than 300 s ahead', { change: { issuedAt: later(301_000) } }),
      await bad('expired', { change: { expiresAt: later(0) } }),
      await bad('more than 24 hours', { change: { expiresAt: later(24 * HOUR_MS - 9_000) } }),
      await bad('expires before it is issued', { change: { issuedAt: later(200_000), expiresAt: later(100_000) } }),
      await bad('signed by a stranger', { signer: KEYS.stranger }),
      await bad('of another domain', { who: WORKER }),
      await bad('for an address of another domain', { change: { address: WORKER.address, keyRef: WORKER.keyRef } }),
      await bad('a key of somebody else', { change: { keyRef: principalKeyRef(OTHER.address, 1) } }),
      await bad('an empty key interval', { change: { keyNbf: later(DAY_MS), keyExp: later(DAY_MS) } }),
      await bad('a key of small order', { change: { jwk: { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) } } }),
      await bad('its key is revoked', { bundle: 'agent key revoked' }),
      await bad('its principal is revoked', { bundle: 'principal revoked' }),
      invalid('another alg', 'certificate_invalid', {
        ...plain,
        token: await withHeader(token, { alg: 'EdDSA', kid: KEYS.alpha.kid, typ: 'agent-key+jwt' }),
      }),
      invalid('another typ', 'certificate_invalid', {
        ...plain,
        token: await withHeader(token, { alg: 'Ed25519', kid: KEYS.alpha.kid, typ: 'receipt+jwt' }),
      }),
      invalid('crit', 'certificate_invalid', {
        ...plain,
        token: await withHeader(token, { alg: 'Ed25519', crit: ['exp'], kid: KEYS.alpha.kid, typ: 'agent-key+jwt' }),
      }),
      invalid('a changed claim', 'certificate_invalid', { ...plain, token: changedClaim(token) }),
      invalid('two parts', 'certificate_invalid', { ...plain, token: token.split('.').slice(0, 2).join('.') }),
    ],
  };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The same claims under another header, signed all the same. */
async function withHeader(token: string, header: object): Promise<string> {
  const input = `${encode(header)}.${token.split('.')[1]}`;
  return `${input}.${Buffer.from(await KEYS.alpha.sign(Buffer.from(input))).toString('base64url')}`;
}

function changedClaim(token: string): string {
  const [header, payload = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as object;
  return [
    header,
    encode({ ...claims, sub: OTHER.address, kid: principalKeyRef(OTHER.address, 1), iss: ALPHA }),
    signature,
  ].join('.');
}
