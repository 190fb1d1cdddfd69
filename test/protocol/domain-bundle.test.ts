import { describe, expect, test } from 'vitest';
import {
  type BundleTrust,
  type DomainBundle,
  formatInstant,
  isRevoked,
  keyAt,
  LIMITS,
  sealDocument,
  verifyBundle,
} from '../../src/protocol/index.js';
import {
  ALPHA,
  ASKER_ID,
  ASKER_KEY_REF,
  BETA,
  bundleOf,
  DAY_MS,
  DOMAIN_KEY,
  domainKey,
  keyPair,
  later,
  NEXT_KEY,
  NOW,
  OTHER_KEY,
  sealed,
} from './fixtures.js';

const byFingerprint: BundleTrust = { fingerprint: DOMAIN_KEY.kid };
const rotated = (change: Partial<DomainBundle> = {}) =>
  bundleOf({
    sequence: '2',
    keys: [domainKey(NEXT_KEY)],
    retired_keys: [{ ...domainKey(DOMAIN_KEY), expired_at: formatInstant(later(-30_000)) }],
    ...change,
  });

async function outcome(text: string, pinned: BundleTrust = byFingerprint, now = NOW): Promise<string> {
  const verified = await verifyBundle(text, { domain: ALPHA, now, pinned });
  return verified.ok ? 'verified' : verified.reason;
}

describe('first contact', () => {
  test('a bundle signed by the key of the given fingerprint is believed', async () => {
    const verified = await verifyBundle(await sealed(bundleOf(), DOMAIN_KEY), {
      domain: ALPHA,
      now: NOW,
      pinned: byFingerprint,
    });
    expect(verified).toMatchObject({
      ok: true,
      fingerprint: DOMAIN_KEY.kid,
      bundle: bundleOf(),
      validUntil: later(DAY_MS),
    });
  });

  test('without a fingerprint a consistent bundle pins its first key', async () => {
    expect(await outcome(await sealed(bundleOf(), DOMAIN_KEY), { firstContact: true })).toBe('verified');
  });

  test('another fingerprint is refused', async () => {
    expect(await outcome(await sealed(bundleOf(), DOMAIN_KEY), { fingerprint: OTHER_KEY.kid })).toBe(
      'bundle_fingerprint_mismatch',
    );
  });

  test('BR-09 a stranger cannot carry the fingerprint of a trusted domain', async () => {
    const stolen = bundleOf({ keys: [domainKey(OTHER_KEY)] });
    expect(await outcome(await sealed(stolen, OTHER_KEY))).toBe('bundle_continuity_broken');
    expect(await outcome(await sealed(stolen, OTHER_KEY), { firstContact: true })).toBe('bundle_continuity_broken');
    const named = { ...OTHER_KEY, kid: DOMAIN_KEY.kid };
    expect(await outcome(await sealed(stolen, OTHER_KEY, named))).toBe('bundle_continuity_broken');
  });

  test('after a rotation the fingerprint still holds while the first key signs too', async () => {
    expect(await outcome(await sealed(rotated(), NEXT_KEY, DOMAIN_KEY))).toBe('verified');
    expect(await outcome(await sealed(rotated(), NEXT_KEY))).toBe('bundle_continuity_broken');
  });
});

describe('continuity', () => {
  const seen: BundleTrust = { bundle: bundleOf() };

  test('BR-02 a new key is believed when a key trusted before has signed the bundle', async () => {
    expect(await outcome(await sealed(rotated(), NEXT_KEY, DOMAIN_KEY), seen)).toBe('verified');
    const both = bundleOf({ sequence: '2', keys: [domainKey(DOMAIN_KEY), domainKey(NEXT_KEY)] });
    expect(await outcome(await sealed(both, DOMAIN_KEY, NEXT_KEY), seen)).toBe('verified');
  });

  test('the chain goes on from the second bundle without the first key', async () => {
    const third = keyPair(9);
    const next = rotated({ sequence: '3', keys: [domainKey(NEXT_KEY), domainKey(third)] });
    expect(await outcome(await sealed(next, NEXT_KEY, third), { bundle: rotated() })).toBe('verified');
    expect(await outcome(await sealed(next, NEXT_KEY, third), seen)).toBe('bundle_continuity_broken');
  });

  test('a bundle that no trusted key has signed is refused', async () => {
    expect(await outcome(await sealed(rotated(), NEXT_KEY), seen)).toBe('bundle_continuity_broken');
    expect(await outcome(await sealed(rotated(), NEXT_KEY, { ...OTHER_KEY, kid: DOMAIN_KEY.kid }), seen)).toBe(
      'bundle_continuity_broken',
    );
  });

  test('a fingerprint that changes breaks continuity', async () => {
    const moved = bundleOf({
      sequence: '2',
      first_kid: NEXT_KEY.kid,
      keys: [domainKey(DOMAIN_KEY), domainKey(NEXT_KEY)],
    });
    expect(await outcome(await sealed(moved, DOMAIN_KEY, NEXT_KEY), seen)).toBe('bundle_continuity_broken');
  });

  test('a key that the new bundle revokes names no successor, but may empty the bundle', async () => {
    const revoked = [{ subject: DOMAIN_KEY.kid, revoked_at: formatInstant(NOW), reason: 'stolen' }];
    const successor = bundleOf({ sequence: '2', keys: [domainKey(NEXT_KEY)], revoked });
    expect(await outcome(await sealed(successor, NEXT_KEY, DOMAIN_KEY), seen)).toBe('bundle_continuity_broken');
    const empty = bundleOf({ sequence: '2', keys: [], revoked });
    expect(await outcome(await sealed(empty, DOMAIN_KEY), seen)).toBe('verified');
  });

  test('a lower sequence is refused, the same bundle again is fine, other content under its sequence is not', async () => {
    const second: BundleTrust = { bundle: bundleOf({ sequence: '10' }) };
    expect(await outcome(await sealed(bundleOf({ sequence: '9' }), DOMAIN_KEY), second)).toBe('bundle_sequence_lower');
    expect(await outcome(await sealed(bundleOf({ sequence: '10' }), DOMAIN_KEY), second)).toBe('verified');
    const other = bundleOf({ sequence: '10', refresh_hint_s: 301 });
    expect(await outcome(await sealed(other, DOMAIN_KEY), second)).toBe('bundle_sequence_reused');
    expect(await outcome(await sealed(bundleOf({ sequence: '11' }), DOMAIN_KEY), second)).toBe('verified');
  });
});

describe('the bundle itself', () => {
  test('a current key that has not signed is refused', async () => {
    const both = bundleOf({ keys: [domainKey(DOMAIN_KEY), domainKey(NEXT_KEY)] });
    const text = await sealDocument('bundle+jwt', both, [DOMAIN_KEY]);
    expect(await outcome(text)).toBe('bundle_unsigned_key');
    await expect(async () => sealed(both, DOMAIN_KEY)).rejects.toThrow(/lacks the signature/);
  });

  test.each<[string, Partial<DomainBundle>, string]>([
    ['another domain', { domain: BETA }, 'bundle_wrong_domain'],
    [
      'a kid that is not the thumbprint',
      { keys: [{ ...domainKey(DOMAIN_KEY), kid: OTHER_KEY.kid }] },
      'bundle_key_invalid',
    ],
    ['a small-order key', { keys: [{ ...domainKey(DOMAIN_KEY), x: `AQ${'A'.repeat(41)}` }] }, 'bundle_key_invalid'],
    ['a key twice', { keys: [domainKey(DOMAIN_KEY), domainKey(DOMAIN_KEY)] }, 'bundle_key_invalid'],
    [
      'a current key revoked',
      { revoked: [{ subject: DOMAIN_KEY.kid, revoked_at: formatInstant(NOW), reason: '' }] },
      'bundle_key_invalid',
    ],
    ['an end before now', { valid_until: formatInstant(NOW) }, 'bundle_expired'],
    ['a start 301 s ahead', { issued_at: formatInstant(later(301_000)) }, 'bundle_issued_in_future'],
    ['a sequence with a leading zero', { sequence: '01' }, 'bundle_malformed'],
    ['an instant without milliseconds', { issued_at: '2026-08-17T09:30:00Z' }, 'bundle_malformed'],
  ])('%s is refused', async (_, change, reason) => {
    const text = await sealDocument('bundle+jwt', bundleOf(change), [DOMAIN_KEY]);
    expect(await outcome(text)).toBe(reason);
  });

  test('seven days are the longest validity', async () => {
    const until = (ms: number) => bundleOf({ issued_at: formatInstant(NOW), valid_until: formatInstant(later(ms)) });
    expect(await outcome(await sealed(until(LIMITS.bundleLifetimeMs), DOMAIN_KEY))).toBe('verified');
    expect(await outcome(await sealed(until(LIMITS.bundleLifetimeMs + 1), DOMAIN_KEY))).toBe(
      'bundle_lifetime_too_long',
    );
  });

  test('sixteen current keys are accepted, seventeen are not', async () => {
    const pairs = [DOMAIN_KEY, ...Array.from({ length: 16 }, (_, index) => keyPair(100 + index))];
    const many = (count: number) => pairs.slice(0, count);
    const text = (count: number) =>
      sealDocument('bundle+jwt', bundleOf({ keys: many(count).map((pair) => domainKey(pair)) }), many(count));
    expect(await outcome(await text(16))).toBe('verified');
    expect(await outcome(await text(17))).toBe('bundle_malformed');
  });

  test('unknown members are passed over, so that a newer peer is understood', async () => {
    const text = await sealDocument('bundle+jwt', { ...bundleOf(), more: 1 }, [DOMAIN_KEY]);
    expect(await outcome(text)).toBe('verified');
  });
});

describe('BR-04 the key as of an instant', () => {
  const retiredAt = later(-30_000);
  const reason = (bundle: DomainBundle, at: Date, kid = DOMAIN_KEY.kid) => {
    const key = keyAt(bundle, kid, at);
    return key.ok ? 'found' : key.reason;
  };

  test('a retired key verifies what was issued before it retired and nothing later', () => {
    expect(reason(rotated(), later(-1, retiredAt))).toBe('found');
    expect(reason(rotated(), retiredAt)).toBe('key_retired');
    expect(reason(rotated(), NOW)).toBe('key_retired');
  });

  test('a revoked key verifies nothing, however old', () => {
    const bundle = rotated({
      revoked: [{ subject: DOMAIN_KEY.kid, revoked_at: formatInstant(NOW), reason: 'stolen' }],
    });
    expect(reason(bundle, later(-DAY_MS))).toBe('key_revoked');
  });

  test('nbf and exp bound a current key', () => {
    const bundle = bundleOf({ keys: [domainKey(DOMAIN_KEY, later(1000))] });
    expect(reason(bundle, later(-31 * DAY_MS))).toBe('key_not_yet_valid');
    expect(reason(bundle, later(-30 * DAY_MS))).toBe('found');
    expect(reason(bundle, later(999))).toBe('found');
    expect(reason(bundle, later(1000))).toBe('key_expired');
    expect(reason(bundle, NOW, OTHER_KEY.kid)).toBe('key_unknown');
  });

  test('principals and their keys are revoked by name', () => {
    const revoked = [ASKER_ID, ASKER_KEY_REF].map((subject) => ({
      subject,
      revoked_at: formatInstant(NOW),
      reason: '',
    }));
    expect(isRevoked(bundleOf({ revoked }), ASKER_ID)).toBe(true);
    expect(isRevoked(bundleOf({ revoked }), ASKER_KEY_REF)).toBe(true);
    expect(isRevoked(bundleOf(), ASKER_ID)).toBe(false);
  });
});
