// Certificates of agents' keys that do not hold: the envelopes that lean on them are refused.
import { rejected, resultIs } from '../expect.js';
import { type CertificateFault, certificateOf, type PlayedAgent, sealEnvelope } from '../peer/played-agent.js';
import type { Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { base64url } from '../wire/encoding.js';
import { type SigningKey, smallOrderKey } from '../wire/keys.js';

interface Bad {
  readonly id: string;
  readonly what: string;
  readonly fault?: CertificateFault;
  readonly signer?: SigningKey;
  readonly token?: (token: string) => string;
  readonly from?: PlayedAgent;
}

const refusals = ['certificate_missing', 'certificate_invalid', 'key_invalid'];

export const certificates: Scenario = {
  name: 'certificates',
  about: 'a certificate vouches for a key only if domain, subject, signer and times hold',
  needs: ['reachable', 'pinned'],
  checks: [
    'KEYS-3',
    'KEYS-4',
    'KEYS-6',
    'KEYS-7',
    'KEYS-26',
    ...[30, 31, 32, 33, 35].map((number) => `KEYS-${number}`),
  ],
  async run(stage, { check }) {
    const { peer, quiet } = stage;
    const one = peer.agent('one');
    const send = (from: PlayedAgent, certificate: unknown) =>
      peer.put({ envelopes: [sealEnvelope({ from, to: [quiet] }).wire], certificates: [certificate] });
    for (const id of ['KEYS-30', 'KEYS-31', 'KEYS-32', 'KEYS-33', 'KEYS-35']) {
      await check(id, 'a certificate as it should be is taken', async () =>
        resultIs(await send(one, certificateOf(one, peer.key)), 'accepted'),
      );
    }
    for (const { id, what, fault, signer = peer.key, token = (text: string) => text, from = one } of badOnes(stage)) {
      const certificate = token(certificateOf(from, signer, fault));
      await check(id, what, async () => rejected(await send(from, certificate), refusals));
    }
    await check('KEYS-6', 'header members that bring a key along are ignored', async () => {
      const header = { jwk: one.key.jwk, jku: 'https://elsewhere.test/keys', x5u: 'https://elsewhere.test/x5u' };
      resultIs(await send(one, certificateOf(one, peer.key, { header })), 'accepted');
    });
  },
};

function badOnes(stage: Stage): Bad[] {
  return [...badClaims(stage), ...badKeys(stage)];
}

function badClaims({ peer }: Stage): Bad[] {
  const now = Math.floor(Date.now() / 1000);
  const one = peer.agent('one');
  const stranger = peer.otherKey('unknown to the bundle');
  const claims = (changed: Record<string, unknown>): CertificateFault => ({ claims: changed });
  const header = (changed: Record<string, unknown>): CertificateFault => ({ header: changed });
  return [
    ...['iss', 'sub', 'principal_id', 'kid', 'cnf', 'key_nbf', 'key_exp', 'iat', 'exp'].map((name) => ({
      id: 'KEYS-30',
      what: `a certificate without ${name} is refused`,
      fault: claims({ [name]: undefined }),
    })),
    { id: 'KEYS-30', what: 'a certificate of more than 4 KiB is refused', fault: claims({ more: 'x'.repeat(4_096) }) },
    { id: 'KEYS-31', what: 'an iss of another domain is refused', fault: claims({ iss: 'elsewhere.test' }) },
    {
      id: 'KEYS-31',
      what: 'a sub of another domain is refused',
      fault: claims({ sub: 'agent://elsewhere.test/agents/one' }),
    },
    { id: 'KEYS-31', what: 'a kid of another principal is refused', fault: claims({ sub: peer.agent('two').address }) },
    { id: 'KEYS-32', what: 'a certificate by a key that is not in the bundle is refused', signer: stranger },
    {
      id: 'KEYS-32',
      what: 'another key under the kid of a domain key is refused',
      signer: stranger,
      fault: header({ kid: peer.key.kid }),
    },
    { id: 'KEYS-32', what: 'an agent does not certify itself', signer: one.key, fault: header({ kid: peer.key.kid }) },
    { id: 'KEYS-26', what: 'an unknown kid is refused', fault: header({ kid: stranger.kid }) },
    { id: 'KEYS-33', what: 'an expired certificate is refused', fault: claims({ iat: now - 600, exp: now - 5 }) },
    {
      id: 'KEYS-33',
      what: 'a certificate issued 310 s ahead is refused',
      fault: claims({ iat: now + 320, exp: now + 600 }),
    },
    {
      id: 'KEYS-33',
      what: 'a certificate for more than a day is refused',
      fault: claims({ iat: now - 5, exp: now + 86_405 }),
    },
  ];
}

function badKeys({ peer }: Stage): Bad[] {
  const now = Math.floor(Date.now() / 1000);
  const one = peer.agent('one');
  const stranger = peer.otherKey('unknown to the bundle');
  const claims = (changed: Record<string, unknown>): CertificateFault => ({ claims: changed });
  const header = (changed: Record<string, unknown>): CertificateFault => ({ header: changed });
  return [
    {
      id: 'KEYS-35',
      what: 'an empty key interval is refused',
      fault: claims({ key_nbf: now + 60, key_exp: now + 60 }),
    },
    { id: 'KEYS-35', what: 'a key of small order is refused', fault: claims({ cnf: { jwk: smallOrderKey } }) },
    { id: 'KEYS-3', what: 'a key of small order is refused', fault: claims({ cnf: { jwk: smallOrderKey } }) },
    {
      id: 'KEYS-3',
      what: 'a key that is no point is refused',
      fault: claims({ cnf: { jwk: { ...one.key.jwk, x: base64url(Buffer.alloc(32, 2)) } } }),
    },
    {
      id: 'KEYS-4',
      what: 'a private key in it is refused',
      fault: claims({ cnf: { jwk: { ...one.key.jwk, d: base64url(one.key.seed) } } }),
    },
    {
      id: 'KEYS-6',
      what: 'a key that the header brings along is not used',
      signer: stranger,
      fault: header({ kid: peer.key.kid, jwk: stranger.jwk }),
    },
    { id: 'KEYS-7', what: 'alg EdDSA is refused', fault: header({ alg: 'EdDSA' }) },
    {
      id: 'KEYS-7',
      what: 'alg none is refused',
      fault: header({ alg: 'none' }),
      token: (token) => token.replace(/[^.]+$/, ''),
    },
    { id: 'KEYS-7', what: 'another typ is refused', fault: { typ: 'receipt+jwt' } },
    { id: 'KEYS-7', what: 'a crit is refused', fault: header({ crit: ['exp'] }) },
    { id: 'KEYS-7', what: 'a token without kid is refused', fault: header({ kid: undefined }) },
  ];
}
