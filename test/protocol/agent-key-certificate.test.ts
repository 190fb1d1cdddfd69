import { describe, expect, test } from 'vitest';
import {
  type DomainBundle,
  digestOf,
  formatInstant,
  principalIdOf,
  principalKeyRef,
  sealAgentKeyCertificate,
  subjectKeyOf,
  toUtf8,
  verifyAgentKeyCertificate,
} from '../../src/protocol/index.js';
import {
  AGENT_KEY,
  ALPHA,
  ASKER,
  ASKER_ID,
  ASKER_KEY_REF,
  BETA,
  bundleOf,
  certificateDraft,
  DAY_MS,
  DOMAIN_KEY,
  domainKey,
  later,
  NEXT_KEY,
  NOW,
  OTHER_KEY,
  WORKER,
  WORKER_ID,
} from './fixtures.js';

type Draft = ReturnType<typeof certificateDraft>;

async function outcome(
  change: Partial<Draft> = {},
  bundle: DomainBundle = bundleOf(),
  signer = DOMAIN_KEY,
): Promise<string> {
  const token = await sealAgentKeyCertificate({ ...certificateDraft(), ...change }, signer.kid, signer.sign);
  const verified = await verifyAgentKeyCertificate(token, { bundle, now: NOW });
  return verified.ok ? 'verified' : verified.detail;
}

describe('agent key certificates', () => {
  test('a fresh certificate gives the key of its principal', async () => {
    const token = await sealAgentKeyCertificate(certificateDraft(), DOMAIN_KEY.kid, DOMAIN_KEY.sign);
    expect(subjectKeyOf(token)).toBe(ASKER_KEY_REF);
    expect(await verifyAgentKeyCertificate(token, { bundle: bundleOf(), now: NOW })).toMatchObject({
      ok: true,
      address: ASKER,
      principalId: ASKER_ID,
      keyRef: ASKER_KEY_REF,
      publicKey: AGENT_KEY.publicKey,
      keyNbf: later(-10 * DAY_MS),
      keyExp: later(90 * DAY_MS),
    });
  });

  test.each<[string, Partial<Draft>, RegExp]>([
    ['BR-09 of another domain', { domain: BETA }, /issued by beta.test/],
    [
      'BR-09 for an address of another domain',
      { address: WORKER, keyRef: principalKeyRef(WORKER, 1) },
      /is not of alpha.test/,
    ],
    ['for a key of another principal', { keyRef: principalKeyRef(WORKER, 1) }, /is not a key of/],
    ['that has expired', { issuedAt: later(-3_600_000), expiresAt: NOW }, /expired/],
    ['issued 301 s ahead', { issuedAt: later(301_000), expiresAt: later(400_000) }, /future/],
    ['valid for a second more than 24 hours', { issuedAt: NOW, expiresAt: later(DAY_MS + 1000) }, /24 hours/],
    ['with an empty key interval', { keyExp: later(-10 * DAY_MS) }, /interval/],
    ['with a small-order key', { jwk: { kty: 'OKP', crv: 'Ed25519', x: `AQ${'A'.repeat(41)}` } }, /prime order/],
  ])('a certificate %s is refused', async (_, change, words) => {
    expect(await outcome(change)).toMatch(words);
  });

  test('exactly 24 hours and 300 s ahead are accepted', async () => {
    expect(await outcome({ issuedAt: NOW, expiresAt: later(DAY_MS) })).toBe('verified');
    expect(await outcome({ issuedAt: later(300_000), expiresAt: later(400_000) })).toBe('verified');
  });

  test('a key that is not of the domain, or signs under its name, is refused', async () => {
    expect(await outcome({}, bundleOf(), OTHER_KEY)).toMatch(/has no key/);
    expect(await outcome({}, bundleOf(), { ...OTHER_KEY, kid: DOMAIN_KEY.kid })).toMatch(/does not hold/);
  });

  test('a domain key that has retired certifies nothing new', async () => {
    const retired = { ...domainKey(DOMAIN_KEY), expired_at: formatInstant(later(-60_000)) };
    expect(await outcome({}, bundleOf({ keys: [domainKey(NEXT_KEY)], retired_keys: [retired] }))).toMatch(/retired/);
  });

  test.each([ASKER_KEY_REF, ASKER_ID, DOMAIN_KEY.kid])(
    'BR-04 revoking %s ends the certificate at once',
    async (subject) => {
      expect(
        await outcome({}, bundleOf({ revoked: [{ subject, revoked_at: formatInstant(NOW), reason: '' }] })),
      ).toMatch(/revoked/);
    },
  );

  test('text that is no certificate is refused', async () => {
    for (const text of ['', 'a.b.c', 'x'.repeat(5000)]) {
      expect((await verifyAgentKeyCertificate(text, { bundle: bundleOf(), now: NOW })).ok).toBe(false);
      expect(subjectKeyOf(text)).toBeUndefined();
    }
  });
});

describe('principal ids', () => {
  const record = {
    address: ASKER,
    first_key: AGENT_KEY.jwk,
    recovery_key_hash: digestOf(toUtf8('recovery')),
    salt: 'AAAAAAAAAAAAAAAAAAAAAA',
  };

  test('the id is a digest of every field of the genesis record', () => {
    expect(principalIdOf(record)).toBe(ASKER_ID);
    expect(ASKER_ID).toMatch(/^prn_[A-Za-z0-9_-]{43}$/);
    const others = [
      principalIdOf({ ...record, address: WORKER }),
      principalIdOf({ ...record, first_key: OTHER_KEY.jwk }),
      principalIdOf({ ...record, recovery_key_hash: digestOf(toUtf8('other')) }),
      principalIdOf({ ...record, salt: 'BAAAAAAAAAAAAAAAAAAAAA' }),
    ];
    expect(new Set([ASKER_ID, ...others]).size).toBe(5);
    expect(others[0]).toBe(WORKER_ID);
    expect(ALPHA).toBe('alpha.test');
  });

  test('the order of members does not matter', () => {
    const { salt, ...rest } = record;
    expect(principalIdOf({ salt, ...rest })).toBe(ASKER_ID);
  });
});
