/**
 * The SQL of placements, in whichever table an embedder keeps them. Every statement judges expiry by lease time at its own
 * start; those that concern many agents wait for none of them, so that one that is stuck holds up no other.
 */
import type { Sql, Tx } from '../../platform/index.js';
import type { Fence, RenewedPlacement } from '../ports.js';
import { placementLimits } from './placement.js';

export type PlacementTable = 'home.placements' | 'foundation.embedded_placements';

export interface ClaimPlacement {
  home: string;
  /** Becomes the lease's id if this claim starts an epoch. */
  newLeaseId: string;
}

/**
 * Takes free or lapsed placements under a new epoch each, and confirms the holder's own; another's are missing. In the order of
 * the homes, so that two hosts never wait for each other in a ring.
 */
export function claimPlacements(
  tx: Tx,
  table: PlacementTable,
  { holder, claims }: { holder: string; claims: readonly ClaimPlacement[] },
): Promise<Fence[]> {
  return tx<Fence[]>`
    insert into ${tx(table)} as held (home, placement_lease_id, placement_epoch, holder, expires_at)
    select home, lease, 1, ${holder}, ${expiry(tx)}
      from unnest(${claims.map(({ home }) => home)}::text[],
                  ${claims.map(({ newLeaseId }) => newLeaseId)}::text[]) as c (home, lease)
     order by home
        on conflict (home) do update
       set placement_lease_id = case when held.expires_at > hearth_lease_now() then held.placement_lease_id
                                     else excluded.placement_lease_id end,
           placement_epoch = case when held.expires_at > hearth_lease_now() then held.placement_epoch
                                  else held.placement_epoch + 1 end,
           wanted_by = case when held.expires_at > hearth_lease_now() then held.wanted_by end,
           wanted_until = case when held.expires_at > hearth_lease_now() then held.wanted_until end,
           holder = excluded.holder,
           expires_at = excluded.expires_at
     where case when held.expires_at > hearth_lease_now() then held.holder = excluded.holder
                else held.wanted_until is null or held.wanted_until <= hearth_lease_now()
                     or held.wanted_by = excluded.holder end
    returning home, placement_lease_id, placement_epoch`;
}

function expiry(sql: Sql) {
  return sql`hearth_lease_now() + ${placementLimits.ttlMs}::integer * interval '1 millisecond'`;
}

/**
 * F12, D17: locks the authoritative records and compares by equality; the locks keep them so until the transaction ends. In the
 * order of the homes; answers those whose fence stands.
 */
export async function lockPlacements(tx: Tx, table: PlacementTable, fences: readonly Fence[]): Promise<string[]> {
  const rows = await tx<{ home: string }[]>`
    select p.home
      from unnest(${fences.map(({ home }) => home)}::text[],
                  ${fences.map(({ placementLeaseId }) => placementLeaseId)}::text[],
                  ${fences.map(({ placementEpoch }) => placementEpoch)}::bigint[]) as f (home, lease, epoch)
      join ${tx(table)} p
        on p.home = f.home and p.placement_lease_id = f.lease and p.placement_epoch = f.epoch
     where p.expires_at > hearth_lease_now()
     order by p.home
       for share of p`;
  return rows.map(({ home }) => home);
}

export interface HostsHomes {
  holder: string;
  homes: readonly string[];
}

/** What has lapsed stays lapsed: its runs may already count as lost. What somebody has locked is told, and left as it is. */
export async function renewPlacements(
  tx: Tx,
  table: PlacementTable,
  { holder, homes }: HostsHomes,
): Promise<RenewedPlacement[]> {
  return tx<RenewedPlacement[]>`
    with unlocked as (
      select home
        from ${tx(table)}
       where holder = ${holder} and home = any(${[...homes]}) and expires_at > hearth_lease_now()
         for update skip locked
    ), renewed as (
      update ${tx(table)} p
         set expires_at = ${expiry(tx)}
        from unlocked u
       where p.home = u.home
      returning p.home
    )
    select p.home, p.placement_lease_id, p.placement_epoch, r.home is not null as renewed
      from ${tx(table)} p
      left join renewed r on r.home = p.home
     where p.holder = ${holder} and p.home = any(${[...homes]}) and p.expires_at > hearth_lease_now()`;
}

/** Of these agents, or of all. */
export async function releasePlacements(
  tx: Tx,
  table: PlacementTable,
  { holder, homes }: { holder: string; homes?: readonly string[] | undefined },
): Promise<void> {
  await tx`
    update ${tx(table)}
       set expires_at = hearth_lease_now()
     where holder = ${holder} and expires_at > hearth_lease_now()
       ${homes === undefined ? tx`` : tx`and home = any(${[...homes]})`}`;
}

export async function selectHeldElsewhere(
  sql: Sql,
  table: PlacementTable,
  { holder, homes }: HostsHomes,
): Promise<string[]> {
  const rows = await sql<{ home: string }[]>`
    select home
      from ${sql(table)}
     where home = any(${[...homes]}) and holder <> ${holder} and expires_at > hearth_lease_now()`;
  return rows.map(({ home }) => home);
}

/** Answers those that nobody had asked for. */
export async function wantPlacements(tx: Tx, table: PlacementTable, { holder, homes }: HostsHomes): Promise<string[]> {
  const rows = await tx<{ home: string }[]>`
    update ${tx(table)} p
       set wanted_by = ${holder},
           wanted_until = hearth_lease_now() + ${placementLimits.askMs}::integer * interval '1 millisecond'
      from (select home
              from ${tx(table)}
             where home = any(${[...homes]}) and holder <> ${holder} and expires_at > hearth_lease_now()
               and (wanted_until is null or wanted_until <= hearth_lease_now())
               for update skip locked) unlocked
     where p.home = unlocked.home
    returning p.home`;
  return rows.map(({ home }) => home);
}

export async function selectWanted(sql: Sql, table: PlacementTable, holder: string): Promise<string[]> {
  const rows = await sql<{ home: string }[]>`
    select home
      from ${sql(table)}
     where holder = ${holder} and expires_at > hearth_lease_now() and wanted_until > hearth_lease_now() and wanted_by <> ${holder}
     limit 10000`;
  return rows.map(({ home }) => home);
}

/** Lease time afterwards, in whole milliseconds; without a move it is only read. */
export async function moveLeaseTime(tx: Tx, move: { from: Date; byMs: number } | undefined): Promise<Date> {
  const [row] = await tx<{ at: Date }[]>`
    update foundation.lease_clock
       set at = greatest(at, ${move?.from ?? null}::timestamptz + ${move?.byMs ?? null}::double precision * interval '1 millisecond')
    returning at`;
  if (!row) throw new Error('there is no lease clock');
  return row.at;
}
