// The domain bundle as served: signed anew when keys changed or half a refresh hint has passed, stored under its sequence.
import type { Database } from '../../platform/index.js';
import {
  canonicalize,
  type DocumentSigner,
  type Domain,
  type DomainBundle,
  digestOf,
  formatInstant,
  LIMITS,
  Problem,
  sealBundle,
  toNumericDate,
  toUtf8,
} from '../../protocol/index.js';
import type { KeyCustody } from '../key-custody/index.js';
import type { DomainKey, DomainRecord } from './domain-record.js';
import {
  listDomainKeys,
  listRevocations,
  type Revocation,
  readStoredBundle,
  type StoredBundle,
  storeBundle,
} from './store.js';

export interface BundleGateway {
  db: Database;
  custody: KeyCustody;
  domain: DomainRecord;
}

export interface SignedBundle {
  sequence: number;
  /** The bytes to serve: JWS in the general JSON form. */
  token: string;
}

// Every loser of the race finds the winner's bundle, so a second round is rare and a ninth is a fault.
const rounds = 8;

export async function currentBundle({ db, custody, domain }: BundleGateway): Promise<SignedBundle> {
  for (let round = 0; round < rounds; round += 1) {
    const stored = await readStoredBundle(db.sql);
    const keys = await listDomainKeys(db.sql);
    const content = contentOf(keys, await listRevocations(db.sql));
    const contentDigest = digestOf(toUtf8(canonicalize(content)));
    if (stored.token !== null && isFresh(stored, contentDigest)) {
      return { sequence: stored.sequence, token: stored.token };
    }
    const sequence = stored.sequence + 1;
    const bundle = bundleOf(domain.name, content, { sequence, issuedAt: stored.now });
    const token = await sealBundle(bundle, signersOf(custody, keys));
    const isFirst = await db.transact('store domain bundle', (tx) =>
      storeBundle(tx, { previous: stored.sequence, token, contentDigest, issuedAt: stored.now }),
    );
    if (isFirst) return { sequence, token };
  }
  throw new Problem('unavailable', 'the domain bundle is being signed by too many processes at once');
}

type BundleContent = Pick<DomainBundle, 'first_kid' | 'keys' | 'retired_keys' | 'revoked'>;

function contentOf(keys: readonly DomainKey[], revocations: readonly Revocation[]): BundleContent {
  const [first] = keys;
  if (!first) throw new Error('the domain has no key');
  return {
    first_kid: first.kid,
    keys: keys.filter(isCurrent).map(entryOf),
    retired_keys: keys.flatMap((key) =>
      key.retiredAt === null ? [] : [{ ...entryOf(key), expired_at: formatInstant(key.retiredAt) }],
    ),
    revoked: revocations.map(({ subject, revokedAt, reason }) => ({
      subject,
      revoked_at: formatInstant(revokedAt),
      reason: reason.slice(0, LIMITS.shortTextChars),
    })),
  };
}

function bundleOf(
  domain: Domain,
  content: BundleContent,
  { sequence, issuedAt }: { sequence: number; issuedAt: Date },
): DomainBundle {
  return {
    ...content,
    domain,
    sequence: String(sequence),
    issued_at: formatInstant(issuedAt),
    valid_until: formatInstant(new Date(issuedAt.getTime() + LIMITS.bundleDefaultLifetimeMs)),
    refresh_hint_s: LIMITS.refreshHintS,
  };
}

function isFresh(stored: StoredBundle, contentDigest: string): boolean {
  if (stored.issuedAt === null || stored.contentDigest !== contentDigest) return false;
  const ageMs = stored.now.getTime() - stored.issuedAt.getTime();
  return ageMs >= 0 && ageMs < (LIMITS.refreshHintS * 1_000) / 2;
}

/** Every current key signs, and the first one too as long as it is held and unrevoked: it proves the fingerprint. */
function signersOf(custody: KeyCustody, keys: readonly DomainKey[]): DocumentSigner[] {
  return keys
    .filter((key, index) => isCurrent(key) || (index === 0 && key.revokedAt === null))
    .map((key) => ({ kid: key.kid, sign: (bytes) => custody.sign(key, bytes) }));
}

function isCurrent(key: DomainKey): boolean {
  return key.retiredAt === null && key.revokedAt === null;
}

function entryOf(key: DomainKey): DomainBundle['keys'][number] {
  return {
    kty: key.publicJwk.kty,
    crv: key.publicJwk.crv,
    x: key.publicJwk.x,
    kid: key.kid,
    nbf: toNumericDate(key.notBefore),
    exp: toNumericDate(key.expiresAt),
  };
}
