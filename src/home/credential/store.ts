// The SQL of credentials. Tokens reach it only as hashes.
import type { Sql, Tx } from '../../platform/index.js';
import type { Address, HomeTag, PrincipalId } from '../../protocol/index.js';
import type { PrincipalStatus, Role } from '../principal/index.js';
import type { Credential, CredentialKind } from './credential.js';

export type NewCredentialRow = Omit<Credential, 'revokedAt' | 'createdAt'> & { tokenHash: Uint8Array };

export interface FoundCredential {
  id: string;
  tokenHash: Uint8Array;
  kind: CredentialKind;
  tenant: string;
  source: string | null;
  home: HomeTag;
  address: Address;
  principalId: PrincipalId;
  roles: Role[];
  status: PrincipalStatus;
}

export async function insertCredential(tx: Tx, credential: NewCredentialRow): Promise<void> {
  await tx`
    insert into home.credentials (id, token_hash, kind, home, tenant, source, label, expires_at)
    values (${credential.id}, ${credential.tokenHash}, ${credential.kind}, ${credential.home}, ${credential.tenant},
            ${credential.source}, ${credential.label}, ${credential.expiresAt})`;
}

/** A credential that holds now, with its principal. */
export async function findCredential(sql: Sql, tokenHash: Uint8Array): Promise<FoundCredential | undefined> {
  const [row] = await sql<FoundCredential[]>`
    select c.id, c.token_hash, c.kind, c.tenant, c.source, p.home, p.address, p.principal_id, p.roles, p.status
      from home.credentials c
      join home.principals p on p.home = c.home
     where c.token_hash = ${tokenHash}
       and c.revoked_at is null
       and (c.expires_at is null or c.expires_at > hearth_now())`;
  return row;
}

/** Guarded: undefined when there is no such credential, or it was revoked before. */
export async function markRevoked(tx: Tx, id: string): Promise<{ home: HomeTag } | undefined> {
  const [row] = await tx<{ home: HomeTag }[]>`
    update home.credentials
       set revoked_at = hearth_now()
     where id = ${id}
       and revoked_at is null
    returning home`;
  return row;
}

/** Ends what earlier starts issued to the first operator. */
export async function revokeStartCredentials(tx: Tx, { home, label }: { home: HomeTag; label: string }): Promise<void> {
  await tx`
    update home.credentials
       set revoked_at = hearth_now()
     where home = ${home}
       and kind = 'operator'
       and label = ${label}
       and revoked_at is null`;
}

export interface ListCredentials {
  home?: string | undefined;
  /** The last id of the page before. */
  after?: string | undefined;
  limit: number;
}

export async function listCredentials(sql: Sql, { home, after, limit }: ListCredentials): Promise<Credential[]> {
  return sql<Credential[]>`
    select id, kind, home, tenant, source, label, expires_at, revoked_at, created_at
      from home.credentials
     where (${home ?? null}::text is null or home = ${home ?? null})
       and id > ${after ?? ''}
     order by id
     limit ${limit}`;
}

/** True while somebody can still come in as an operator. */
export async function operatorExists(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select 1
      from home.credentials c
      join home.principals p on p.home = c.home
     where c.kind = 'operator'
       and c.revoked_at is null
       and (c.expires_at is null or c.expires_at > hearth_now())
       and 'operator' = any (p.roles)
       and p.status not in ('ended', 'revoked')
     limit 1`;
  return rows.length === 1;
}
