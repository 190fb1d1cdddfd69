// Domain bundles, their continuity, and what a key verifies at an instant.
import { type DomainBundle, formatInstant, toNumericDate } from '../../../src/protocol/index.js';
import { ALPHA, BETA, bundleKey, bundleOf, DAY_MS, instant, KEYS, later, type NamedKey, sealed } from '../world.js';
import { invalid, type VectorFile, valid } from './vector-file.js';

const FIRST = { first_contact: true };
const PINNED = { fingerprint: KEYS.alpha.kid };
const BEFORE = { bundle: bundleOf() };
const base = { domain: ALPHA, now: instant() };

/** The next key joins, the first one stays. */
const rotating = bundleOf({ sequence: '8', keys: [bundleKey(KEYS.alpha), bundleKey(KEYS.alphaNext)] });
/** The first key has retired. */
const rotated = bundleOf({
  sequence: '9',
  keys: [bundleKey(KEYS.alphaNext)],
  retired_keys: [{ ...bundleKey(KEYS.alpha), expired_at: instant(-1000) }],
});
const revocation = { subject: KEYS.alpha.kid, revoked_at: instant(-1000), reason: 'lost' };

async function of(bundle: DomainBundle, signers: NamedKey[], pinned: object, change: object = {}) {
  const document = await sealed(bundle, ...signers);
  return { ...base, pinned, document, payload: bundle, ...change };
}

export async function bundleVectors(): Promise<VectorFile> {
  const { alpha, alphaNext, stranger } = KEYS;
  const good = async (name: string, made: ReturnType<typeof of>) => {
    const members = await made;
    return valid(name, { ...members, expect: { fingerprint: alpha.kid, sequence: members.payload.sequence } });
  };
  const bad = async (name: string, reason: string, made: ReturnType<typeof of>) => invalid(name, reason, await made);
  const first = await of(bundleOf(), [alpha], FIRST);
  return {
    about:
      'Bundles as served, with what the reader trusts beforehand: nothing (`first_contact`), a fingerprint, or an earlier bundle.',
    vectors: [
      await good('first contact', of(bundleOf(), [alpha], FIRST)),
      await good('a pinned fingerprint', of(bundleOf(), [alpha], PINNED)),
      await good('the same bundle again', of(bundleOf(), [alpha], BEFORE)),
      await good('a new key joins', of(rotating, [alpha, alphaNext], BEFORE)),
      await good('the first key retires, after the rotation was seen', of(rotated, [alphaNext], { bundle: rotating })),
      await good('the first key retires and still signs', of(rotated, [alphaNext, alpha], BEFORE)),
      await good(
        'everything is revoked',
        of(
          bundleOf({
            sequence: '8',
            keys: [],
            retired_keys: [{ ...bundleKey(alpha), expired_at: instant() }],
            revoked: [revocation],
          }),
          [alpha],
          BEFORE,
        ),
      ),
      await bad('another domain', 'bundle_wrong_domain', of(bundleOf(), [alpha], FIRST, { domain: BETA })),
      await bad('expired', 'bundle_expired', of(bundleOf({ valid_until: instant() }), [alpha], FIRST)),
      await bad(
        'issued in the future',
        'bundle_issued_in_future',
        of(bundleOf({ issued_at: instant(300_001) }), [alpha], FIRST),
      ),
      await bad(
        'valid for too long',
        'bundle_lifetime_too_long',
        of(bundleOf({ valid_until: instant(7 * DAY_MS - 59_999) }), [alpha], FIRST),
      ),
      invalid('a current key has not signed', 'bundle_unsigned_key', {
        ...(await of(rotating, [alpha, alphaNext], FIRST)),
        document: await withoutSignature(rotating, [alpha, alphaNext]),
      }),
      await bad(
        'another fingerprint than the pinned one',
        'bundle_fingerprint_mismatch',
        of(bundleOf(), [alpha], { fingerprint: stranger.kid }),
      ),
      await bad(
        "a stranger carries another's fingerprint",
        'bundle_continuity_broken',
        of(bundleOf({ keys: [bundleKey(stranger)] }), [stranger], FIRST),
      ),
      await bad(
        'the first key is revoked at first contact',
        'bundle_continuity_broken',
        of(
          bundleOf({
            keys: [bundleKey(alphaNext)],
            retired_keys: [{ ...bundleKey(alpha), expired_at: instant() }],
            revoked: [revocation],
          }),
          [alphaNext, alpha],
          FIRST,
        ),
      ),
      await bad('no key seen before has signed', 'bundle_continuity_broken', of(rotated, [alphaNext], BEFORE)),
      await bad(
        'a revoked key names successors',
        'bundle_continuity_broken',
        of(
          bundleOf({ sequence: '8', keys: [bundleKey(alphaNext)], revoked: [revocation] }),
          [alphaNext, alpha],
          BEFORE,
        ),
      ),
      await bad(
        'the fingerprint changes',
        'bundle_continuity_broken',
        of({ ...rotating, first_kid: alphaNext.kid }, [alpha, alphaNext], BEFORE),
      ),
      await bad('a lower sequence', 'bundle_sequence_lower', of(bundleOf({ sequence: '6' }), [alpha], BEFORE)),
      await bad(
        'other content under the sequence',
        'bundle_sequence_reused',
        of(bundleOf({ refresh_hint_s: 60 }), [alpha], BEFORE),
      ),
      await bad(
        'a kid of another key',
        'bundle_key_invalid',
        of(
          bundleOf({ retired_keys: [{ ...bundleKey(stranger), kid: alphaNext.kid, expired_at: instant() }] }),
          [alpha],
          FIRST,
        ),
      ),
      await bad(
        'a key twice',
        'bundle_key_invalid',
        of(bundleOf({ retired_keys: [{ ...bundleKey(alpha), expired_at: instant() }] }), [alpha], FIRST),
      ),
      await bad(
        'current and revoked at once',
        'bundle_key_invalid',
        of(bundleOf({ revoked: [revocation] }), [alpha], FIRST),
      ),
      await bad(
        'a key of small order',
        'bundle_key_invalid',
        of(
          bundleOf({ retired_keys: [{ ...bundleKey(stranger), x: 'A'.repeat(43), expired_at: instant() }] }),
          [alpha],
          FIRST,
        ),
      ),
      invalid('not a JWS', 'bundle_malformed', { ...first, document: '{}' }),
      invalid('a changed payload', 'bundle_unsigned_key', { ...first, document: changedPayload(first.document) }),
      invalid('another typ', 'bundle_malformed', { ...first, document: await withType(first.document) }),
      invalid('a signer twice', 'bundle_malformed', { ...first, document: signedTwice(first.document) }),
      invalid('a member twice', 'bundle_malformed', {
        ...first,
        document: first.document.replace('{"payload"', '{"payload":"e30","payload"'),
      }),
    ],
  };
}

type General = { payload: string; signatures: { protected: string; signature: string }[] };

const read = (document: string): General => JSON.parse(document) as General;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

async function withoutSignature(bundle: DomainBundle, signers: NamedKey[]): Promise<string> {
  const { payload, signatures } = read(await sealed(bundle, ...signers));
  return JSON.stringify({ payload, signatures: signatures.slice(0, 1) });
}

function changedPayload(document: string): string {
  const { payload, signatures } = read(document);
  const bundle = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as DomainBundle;
  return JSON.stringify({ payload: encode({ ...bundle, sequence: '70' }), signatures });
}

async function withType(document: string): Promise<string> {
  const { payload } = read(document);
  const header = encode({ alg: 'Ed25519', kid: KEYS.alpha.kid, typ: 'receipt+jwt' });
  const made = await KEYS.alpha.sign(Buffer.from(`${header}.${payload}`));
  return JSON.stringify({
    payload,
    signatures: [{ protected: header, signature: Buffer.from(made).toString('base64url') }],
  });
}

function signedTwice(document: string): string {
  const { payload, signatures } = read(document);
  return JSON.stringify({ payload, signatures: [...signatures, ...signatures] });
}

export function keyValidityVectors(): VectorFile {
  const retiredAt = later(-DAY_MS);
  const bundle = bundleOf({
    keys: [bundleKey(KEYS.alpha)],
    retired_keys: [{ ...bundleKey(KEYS.alphaNext), expired_at: formatInstant(retiredAt) }],
    revoked: [{ subject: KEYS.stranger.kid, revoked_at: instant(-1000), reason: 'leaked' }],
  });
  const of = (kid: string, issuedAt: Date) => ({ bundle: 'keys', kid, issued_at: formatInstant(issuedAt) });
  const nbf = new Date(toNumericDate(later(-30 * DAY_MS)) * 1000);
  const exp = new Date(toNumericDate(later(365 * DAY_MS)) * 1000);
  return {
    about: 'Whether a key of a verified bundle verifies what was issued at an instant (BR-04).',
    context: { bundles: { keys: bundle } },
    vectors: [
      valid('a current key now', of(KEYS.alpha.kid, later(0))),
      valid('a current key at its nbf', of(KEYS.alpha.kid, nbf)),
      valid('a retired key, before it retired', of(KEYS.alphaNext.kid, new Date(retiredAt.getTime() - 1))),
      invalid('a retired key, when it retired', 'key_retired', of(KEYS.alphaNext.kid, retiredAt)),
      invalid('a retired key, later', 'key_retired', of(KEYS.alphaNext.kid, later(0))),
      invalid('before nbf', 'key_not_yet_valid', of(KEYS.alpha.kid, new Date(nbf.getTime() - 1))),
      invalid('at exp', 'key_expired', of(KEYS.alpha.kid, exp)),
      invalid('a revoked key, whenever', 'key_revoked', of(KEYS.stranger.kid, later(-365 * DAY_MS))),
      invalid('an unknown key', 'key_unknown', of(KEYS.beta.kid, later(0))),
    ],
  };
}
