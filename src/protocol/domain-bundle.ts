/**
 * The domain bundle: which keys speak for a domain. It is signed by every current key and by one that the reader already
 * trusts; without that continuity nothing in it is believed.
 */

import { z } from 'zod';
import type { Domain } from './address.js';
import { canonicalize } from './canonical-json.js';
import { type PublicKey, readPublicKey, thumbprint } from './ed25519.js';
import { fromNumericDate, parseInstant } from './encoding.js';
import type { PrincipalId } from './identifier.js';
import { LIMITS } from './limits.js';
import { type Refusal, refuse } from './problem.js';
import {
  type DocumentSigner,
  holdingSignatures,
  type ReadDocument,
  readDocument,
  sealDocument,
} from './signed-document.js';
import {
  decimalSchema,
  domainSchema,
  instantSchema,
  kidSchema,
  numericDateSchema,
  readAs,
  shortTextSchema,
} from './wire-schema.js';

const keySchema = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().length(43),
  // KEYS-4: a private key in the record is refused, not passed over.
  d: z.never().optional(),
  kid: kidSchema,
  nbf: numericDateSchema,
  exp: numericDateSchema,
});

/** `subject` is a kid of the domain, a key reference or a principal id. */
const revocationSchema = z.object({
  subject: z.string().min(1).max(LIMITS.identifierBytes),
  revoked_at: instantSchema,
  reason: shortTextSchema,
});

export const domainBundleSchema = z.object({
  domain: domainSchema,
  sequence: decimalSchema,
  issued_at: instantSchema,
  valid_until: instantSchema,
  refresh_hint_s: z.int().min(1).max(86_400),
  /** Thumbprint of the domain's first key: its fingerprint for people, carried on through every rotation. */
  first_kid: kidSchema,
  keys: z.array(keySchema).max(LIMITS.bundleKeys),
  retired_keys: z.array(keySchema.extend({ expired_at: instantSchema })).max(LIMITS.bundleRetiredKeys),
  revoked: z.array(revocationSchema).max(LIMITS.bundleRevocations),
});

export type DomainBundle = z.infer<typeof domainBundleSchema>;

/** What the reader trusts beforehand: the fingerprint given by a human, the bundle seen last, or nothing yet. */
export type BundleTrust =
  | { readonly fingerprint: string }
  | { readonly bundle: DomainBundle }
  | { readonly firstContact: true };

export type VerifyBundleOptions = { readonly domain: Domain; readonly now: Date; readonly pinned: BundleTrust };

export type BundleRefusal = Refusal<
  | 'bundle_malformed'
  | 'bundle_wrong_domain'
  | 'bundle_key_invalid'
  | 'bundle_expired'
  | 'bundle_issued_in_future'
  | 'bundle_lifetime_too_long'
  | 'bundle_unsigned_key'
  | 'bundle_fingerprint_mismatch'
  | 'bundle_continuity_broken'
  | 'bundle_sequence_lower'
  | 'bundle_sequence_reused'
>;

const proof = Symbol('VerifiedBundle');

export type VerifiedBundle = {
  readonly ok: true;
  readonly bundle: DomainBundle;
  readonly fingerprint: string;
  readonly validUntil: Date;
  readonly [proof]: 'bundle';
};

export type KeyRefusal = Refusal<'key_unknown' | 'key_revoked' | 'key_retired' | 'key_not_yet_valid' | 'key_expired'>;

/** Seals a bundle. Signers are all current keys, and the first key too while the domain still holds it. */
export function sealBundle(bundle: DomainBundle, signers: readonly DocumentSigner[]): Promise<string> {
  const checked = domainBundleSchema.parse(bundle);
  const missing = checked.keys.find(({ kid }) => !signers.some((signer) => signer.kid === kid));
  if (missing) throw new TypeError(`the bundle lacks the signature of its current key ${missing.kid}`);
  return sealDocument('bundle+jwt', checked, signers);
}

/** Verifies a bundle as received against what the reader trusts. */
export async function verifyBundle(
  text: string,
  options: VerifyBundleOptions,
): Promise<VerifiedBundle | BundleRefusal> {
  const document = readDocument(text, {
    typ: 'bundle+jwt',
    maxBytes: LIMITS.bundleBytes,
    maxSignatures: LIMITS.bundleKeys + 1,
  });
  if (!document.ok) return refuse('bundle_malformed', document.detail);
  const read = readAs(domainBundleSchema, document.payload, 'bundle_malformed');
  if (!read.ok) return read;
  const bundle = read.value;
  if (bundle.domain !== options.domain) {
    return refuse('bundle_wrong_domain', `the bundle is of ${bundle.domain}, not ${options.domain}`);
  }
  const timeRefusal = checkTimes(bundle, options.now) ?? checkKeys(bundle);
  if (timeRefusal) return timeRefusal;
  const holding = await verifiedKids(document, bundle, options.pinned);
  const unsigned = bundle.keys.find(({ kid }) => !holding.has(kid));
  if (unsigned) return refuse('bundle_unsigned_key', `the current key ${unsigned.kid} has not signed the bundle`);
  const refusal = checkContinuity(bundle, options.pinned, holding);
  if (refusal) return refusal;
  const validUntil = parseInstant(bundle.valid_until) ?? options.now;
  return { ok: true, bundle, fingerprint: bundle.first_kid, validUntil, [proof]: 'bundle' };
}

/**
 * Takes a bundle that this process verified before and kept, without verifying it again. The one way in beside
 * `verifyBundle`: for bundles read back from the reader's own database.
 */
export function recallBundle(stored: unknown): DomainBundle {
  return domainBundleSchema.parse(stored);
}

/** The key `kid` as of an instant: a retired key verifies what was issued before it retired, a revoked one nothing. */
export function keyAt(
  bundle: DomainBundle,
  kid: string,
  issuedAt: Date,
): { readonly ok: true; readonly key: PublicKey } | KeyRefusal {
  if (isRevoked(bundle, kid)) return refuse('key_revoked', `the key ${kid} is revoked`);
  const retired = bundle.retired_keys.find((key) => key.kid === kid);
  const record = bundle.keys.find((key) => key.kid === kid) ?? retired;
  if (!record) return refuse('key_unknown', `the domain has no key ${kid}`);
  if (retired && issuedAt >= (parseInstant(retired.expired_at) ?? issuedAt)) {
    return refuse('key_retired', `the key ${kid} retired at ${retired.expired_at}`);
  }
  if (issuedAt < fromNumericDate(record.nbf)) return refuse('key_not_yet_valid', `the key ${kid} is not valid yet`);
  if (issuedAt >= fromNumericDate(record.exp)) return refuse('key_expired', `the key ${kid} has expired`);
  const read = readPublicKey(record);
  return read.ok ? { ok: true, key: read.key } : refuse('key_unknown', read.detail);
}

/** True when the bundle revokes a kid, a key reference or a principal. */
export function isRevoked(bundle: DomainBundle, subject: string | PrincipalId): boolean {
  return bundle.revoked.some((entry) => entry.subject === subject);
}

function checkTimes(bundle: DomainBundle, now: Date): BundleRefusal | undefined {
  const issuedMs = parseInstant(bundle.issued_at)?.getTime() ?? Number.NaN;
  const untilMs = parseInstant(bundle.valid_until)?.getTime() ?? Number.NaN;
  if (issuedMs > now.getTime() + LIMITS.clockSkewMs) {
    return refuse('bundle_issued_in_future', `the bundle is issued at ${bundle.issued_at}, ahead of this clock`);
  }
  if (!(untilMs > now.getTime())) return refuse('bundle_expired', `the bundle was valid until ${bundle.valid_until}`);
  if (untilMs - issuedMs > LIMITS.bundleLifetimeMs) {
    return refuse('bundle_lifetime_too_long', 'the bundle is valid for more than 7 days');
  }
  return undefined;
}

function checkKeys(bundle: DomainBundle): BundleRefusal | undefined {
  const seen = new Set<string>();
  for (const key of [...bundle.keys, ...bundle.retired_keys]) {
    const read = readPublicKey(key);
    if (!read.ok) return refuse('bundle_key_invalid', `${key.kid}: ${read.detail}`);
    if (thumbprint(key) !== key.kid) return refuse('bundle_key_invalid', `${key.kid} is not the thumbprint of its key`);
    if (seen.has(key.kid)) return refuse('bundle_key_invalid', `${key.kid} appears twice`);
    seen.add(key.kid);
  }
  const revoked = bundle.keys.find(({ kid }) => isRevoked(bundle, kid));
  return revoked && refuse('bundle_key_invalid', `${revoked.kid} is current and revoked at once`);
}

/** Signatures are tried with the keys of the bundle itself and, for continuity, those of the bundle trusted before. */
function verifiedKids(document: ReadDocument, bundle: DomainBundle, pinned: BundleTrust): Promise<ReadonlySet<string>> {
  const trusted = 'bundle' in pinned ? pinned.bundle.keys : [];
  const records = [...bundle.keys, ...bundle.retired_keys, ...trusted];
  return holdingSignatures(document, 'bundle+jwt', (kid) => {
    const record = records.find((key) => key.kid === kid);
    const read = record && readPublicKey(record);
    return read?.ok ? read.key : undefined;
  });
}

function checkContinuity(
  bundle: DomainBundle,
  pinned: BundleTrust,
  holding: ReadonlySet<string>,
): BundleRefusal | undefined {
  if ('bundle' in pinned) return checkSuccession(bundle, pinned.bundle, holding);
  if ('fingerprint' in pinned && pinned.fingerprint !== bundle.first_kid) {
    return refuse('bundle_fingerprint_mismatch', `the fingerprint is ${bundle.first_kid}, not ${pinned.fingerprint}`);
  }
  // Who claims a fingerprint proves it by that key's signature; else anybody could carry a trusted domain's fingerprint.
  if (!holding.has(bundle.first_kid) || isRevoked(bundle, bundle.first_kid)) {
    return refuse('bundle_continuity_broken', 'the first key has not signed the bundle');
  }
  return undefined;
}

function checkSuccession(
  bundle: DomainBundle,
  before: DomainBundle,
  holding: ReadonlySet<string>,
): BundleRefusal | undefined {
  if (BigInt(bundle.sequence) < BigInt(before.sequence)) {
    return refuse('bundle_sequence_lower', `sequence ${bundle.sequence} after ${before.sequence}`);
  }
  if (bundle.first_kid !== before.first_kid) {
    return refuse('bundle_continuity_broken', 'the fingerprint has changed');
  }
  if (bundle.sequence === before.sequence) {
    const same = canonicalize(bundle) === canonicalize(before);
    return same ? undefined : refuse('bundle_sequence_reused', `another bundle under sequence ${bundle.sequence}`);
  }
  // A key that the new bundle revokes may still empty the bundle (that only takes trust away), but not name successors.
  const trusted = before.keys.filter(({ kid }) => bundle.keys.length === 0 || !isRevoked(bundle, kid));
  if (!trusted.some(({ kid }) => holding.has(kid))) {
    return refuse('bundle_continuity_broken', 'no key that was trusted before has signed the bundle');
  }
  return undefined;
}
