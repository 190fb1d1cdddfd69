// The SQL of principals and their keys. Rows are never deleted: that is how an address is never given twice.
import type { Sql, Tx } from '../../platform/index.js';
import type { PrincipalKind } from '../../protocol/index.js';
import { keyLifetimeDays } from '../domain/index.js';
import type { Principal, PrincipalKey, PrincipalStatus, Visibility } from './principal.js';

export type NewPrincipalRow = Omit<Principal, 'status' | 'createdAt'> & { genesis: Uint8Array };

/** False when the address was ever given before. */
export async function insertPrincipal(tx: Tx, principal: NewPrincipalRow): Promise<boolean> {
  const rows = await tx`
    insert into home.principals
           (home, principal_id, address, kind, tenant, display_name, roles, visibility, status, genesis)
    values (${principal.home}, ${principal.principalId}, ${principal.address}, ${principal.kind}, ${principal.tenant},
            ${principal.displayName}, ${principal.roles}::text[], ${principal.visibility}, 'active',
            ${principal.genesis})
        on conflict (address) do nothing
    returning 1`;
  return rows.length === 1;
}

/** Valid from a minute ago, as the domain's keys are. */
export async function insertPrincipalKey(
  tx: Tx,
  key: Pick<PrincipalKey, 'home' | 'number' | 'keyRef' | 'publicJwk' | 'sealedPrivateKey'>,
): Promise<void> {
  await tx`
    insert into home.principal_keys
           (home, number, key_ref, public_jwk, sealed_private_key, not_before, expires_at)
    values (${key.home}, ${key.number}, ${key.keyRef}, ${tx.json(key.publicJwk)}, ${key.sealedPrivateKey},
            hearth_now() - interval '1 minute',
            hearth_now() + ${keyLifetimeDays}::integer * interval '1 day')`;
}

export async function principalByHome(sql: Sql, home: string): Promise<Principal | undefined> {
  const [row] = await sql<Principal[]>`
    select home, principal_id, address, kind, tenant, display_name, roles, visibility, status, created_at
      from home.principals
     where home = ${home}`;
  return row;
}

export async function principalByAddress(sql: Sql, address: string): Promise<Principal | undefined> {
  const [row] = await sql<Principal[]>`
    select home, principal_id, address, kind, tenant, display_name, roles, visibility, status, created_at
      from home.principals
     where address = ${address}`;
  return row;
}

export function principalsByHome(sql: Sql, homes: readonly string[]): Promise<Principal[]> {
  return sql<Principal[]>`
    select home, principal_id, address, kind, tenant, display_name, roles, visibility, status, created_at
      from home.principals
     where home = any (${[...new Set(homes)]}::text[])`;
}

export function principalsByAddress(sql: Sql, addresses: readonly string[]): Promise<Principal[]> {
  return sql<Principal[]>`
    select home, principal_id, address, kind, tenant, display_name, roles, visibility, status, created_at
      from home.principals
     where address = any (${[...new Set(addresses)]}::text[])`;
}

export async function principalById(sql: Sql, principalId: string): Promise<Principal | undefined> {
  const [row] = await sql<Principal[]>`
    select home, principal_id, address, kind, tenant, display_name, roles, visibility, status, created_at
      from home.principals
     where principal_id = ${principalId}`;
  return row;
}

export interface ListPrincipals {
  kind?: PrincipalKind | undefined;
  /** The last address of the page before. */
  after?: string | undefined;
  limit: number;
}

export async function listPrincipals(sql: Sql, { kind, after, limit }: ListPrincipals): Promise<Principal[]> {
  return sql<Principal[]>`
    select home, principal_id, address, kind, tenant, display_name, roles, visibility, status, created_at
      from home.principals
     where (${kind ?? null}::text is null or kind = ${kind ?? null})
       and address > ${after ?? ''}
     order by address
     limit ${limit}`;
}

/** Principals that may be shown, by visibility; what has ended is shown to nobody. */
export async function listVisible(
  sql: Sql,
  { visible, after, limit }: { visible: readonly Visibility[]; after: string; limit: number },
): Promise<Principal[]> {
  return sql<Principal[]>`
    select home, principal_id, address, kind, tenant, display_name, roles, visibility, status, created_at
      from home.principals
     where visibility = any (${visible}::text[])
       and status not in ('ended', 'revoked')
       and address > ${after}
     order by address
     limit ${limit}`;
}

/** Guarded: false when the principal is in none of the states that the move starts from. */
export async function moveStatus(
  tx: Tx,
  home: string,
  { from, to }: { from: readonly PrincipalStatus[]; to: PrincipalStatus },
): Promise<boolean> {
  const rows = await tx`
    update home.principals
       set status = ${to}
     where home = ${home}
       and status = any (${from}::text[])
    returning 1`;
  return rows.length === 1;
}

/** The key that signs for a principal now: the newest that holds. */
export async function currentPrincipalKey(sql: Sql, home: string): Promise<PrincipalKey | undefined> {
  const [key] = await currentPrincipalKeys(sql, [home]);
  return key;
}

/** The same for many: one key for each that has one. */
export function currentPrincipalKeys(sql: Sql, homes: readonly string[]): Promise<PrincipalKey[]> {
  return sql<PrincipalKey[]>`
    select distinct on (home)
           home, number, key_ref, public_jwk, sealed_private_key, not_before, expires_at, revoked_at
      from home.principal_keys
     where home = any (${[...new Set(homes)]}::text[])
       and revoked_at is null
       and not_before <= hearth_now()
       and expires_at > hearth_now()
     order by home, number desc`;
}
