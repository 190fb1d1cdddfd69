// The SQL of the domain room: the one domain row, its keys, and the bundle as it was last signed.
import type { Sql, Tx } from '../../platform/index.js';
import { type Domain, LIMITS } from '../../protocol/index.js';
import { type DomainKey, type DomainRecord, keyLifetimeDays } from './domain-record.js';

export interface NewDomain {
  name: Domain;
  incarnation: string;
  keyEncryptionKeyId: string;
}

export interface StoredBundle {
  sequence: number;
  token: string | null;
  contentDigest: string | null;
  issuedAt: Date | null;
  now: Date;
}

export interface Revocation {
  subject: string;
  revokedAt: Date;
  reason: string;
}

/** Undefined before the domain's first start. */
export async function readDomain(sql: Sql): Promise<DomainRecord | undefined> {
  const [row] = await sql<DomainRecord[]>`
    select name, incarnation, tenant_default, key_encryption_key_id, created_at
      from home.domain
     limit 1`;
  return row;
}

/** What authenticates the cursors of this domain's lists. */
export async function readCursorKey(sql: Sql): Promise<Uint8Array> {
  const [row] = await sql<{ cursorKey: Uint8Array }[]>`
    select cursor_key
      from home.domain
     limit 1`;
  if (!row) throw new Error('there is no domain yet');
  return row.cursorKey;
}

/** False when another starter was first. */
export async function insertDomain(tx: Tx, domain: NewDomain): Promise<boolean> {
  const rows = await tx`
    insert into home.domain (name, incarnation, key_encryption_key_id)
    values (${domain.name}, ${domain.incarnation}, ${domain.keyEncryptionKeyId})
        on conflict do nothing
    returning 1`;
  return rows.length === 1;
}

/** Serialises what must happen once per domain. */
export async function lockDomain(tx: Tx): Promise<void> {
  await tx`
    select 1
      from home.domain
       for update`;
}

/** Valid from a minute ago: a process whose clock follows a little behind must not sign before the key begins. */
export async function insertDomainKey(
  tx: Tx,
  key: Pick<DomainKey, 'kid' | 'publicJwk' | 'sealedPrivateKey'>,
): Promise<void> {
  await tx`
    insert into home.domain_keys (kid, public_jwk, sealed_private_key, not_before, expires_at)
    values (${key.kid}, ${tx.json(key.publicJwk)}, ${key.sealedPrivateKey},
            hearth_now() - interval '1 minute',
            hearth_now() + ${keyLifetimeDays}::integer * interval '1 day')`;
}

/** Oldest first: the first is the one whose thumbprint people compare. */
export async function listDomainKeys(sql: Sql): Promise<DomainKey[]> {
  return sql<DomainKey[]>`
    select kid, public_jwk, sealed_private_key, not_before, expires_at, retired_at, revoked_at, revoked_reason
      from home.domain_keys
     order by created_at, kid
     limit ${LIMITS.bundleKeys + LIMITS.bundleRetiredKeys}`;
}

/** The key that signs now. */
export async function readSigningKey(sql: Sql): Promise<DomainKey | undefined> {
  const [row] = await sql<DomainKey[]>`
    select kid, public_jwk, sealed_private_key, not_before, expires_at, retired_at, revoked_at, revoked_reason
      from home.domain_keys
     where retired_at is null
       and revoked_at is null
       and not_before <= hearth_now()
       and expires_at > hearth_now()
     order by created_at, kid
     limit 1`;
  return row;
}

/** Everything that the domain has revoked: its own keys and those of its principals, newest first. */
export async function listRevocations(sql: Sql): Promise<Revocation[]> {
  return sql<Revocation[]>`
    select subject, revoked_at, reason
      from (select kid as subject, revoked_at, coalesce(revoked_reason, '') as reason
              from home.domain_keys
             where revoked_at is not null
             union all
            select key_ref, revoked_at, ''
              from home.principal_keys
             where revoked_at is not null) revoked
     order by revoked_at desc, subject
     limit ${LIMITS.bundleRevocations}`;
}

export async function readStoredBundle(sql: Sql): Promise<StoredBundle> {
  const [row] = await sql<StoredBundle[]>`
    select bundle_sequence as sequence, bundle_token as token, bundle_content_digest as content_digest,
           bundle_issued_at as issued_at, hearth_now() as now
      from home.domain
     limit 1`;
  if (!row) throw new Error('the domain has no row: it was never opened');
  return row;
}

export interface StoreBundle {
  /** The sequence that was read before signing; if it has moved on, nothing is stored. */
  previous: number;
  token: string;
  contentDigest: string;
  issuedAt: Date;
}

export async function storeBundle(tx: Tx, bundle: StoreBundle): Promise<boolean> {
  const rows = await tx`
    update home.domain
       set bundle_sequence = ${bundle.previous + 1},
           bundle_token = ${bundle.token},
           bundle_content_digest = ${bundle.contentDigest},
           bundle_issued_at = ${bundle.issuedAt}
     where bundle_sequence = ${bundle.previous}
    returning 1`;
  return rows.length === 1;
}
