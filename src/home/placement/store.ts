// The SQL of placement. Every statement judges expiry by the database's clock at its own start.
import type { Sql, Tx } from '../../platform/index.js';
import type { Placement } from './placement.js';

export interface ClaimPlacement {
  home: string;
  holder: string;
  /** Becomes the lease's id if this claim starts an epoch. */
  newLeaseId: string;
  ttlMs: number;
}

type FenceRow = Pick<Placement, 'home' | 'placementLeaseId' | 'placementEpoch'>;

/** Takes a free or lapsed placement under a new epoch, or confirms the holder's own; no row while another holds it. */
export async function claimPlacement(tx: Tx, claim: ClaimPlacement): Promise<FenceRow | undefined> {
  const [row] = await tx<FenceRow[]>`
    insert into home.placements as held (home, placement_lease_id, placement_epoch, holder, expires_at)
    values (${claim.home}, ${claim.newLeaseId}, 1, ${claim.holder},
            hearth_now() + ${claim.ttlMs}::integer * interval '1 millisecond')
        on conflict (home) do update
       set placement_lease_id = case when held.expires_at > hearth_now() then held.placement_lease_id
                                     else excluded.placement_lease_id end,
           placement_epoch = case when held.expires_at > hearth_now() then held.placement_epoch
                                  else held.placement_epoch + 1 end,
           holder = excluded.holder,
           expires_at = excluded.expires_at,
           updated_at = hearth_now()
     where held.expires_at <= hearth_now()
        or held.holder = excluded.holder
    returning home, placement_lease_id, placement_epoch`;
  return row;
}

/** F12, D17: locks the authoritative record and compares by equality; the lock keeps it so until the transaction ends. */
export async function lockPlacement(tx: Tx, fence: FenceRow): Promise<boolean> {
  const rows = await tx`
    select 1
      from home.placements
     where home = ${fence.home}
       and placement_lease_id = ${fence.placementLeaseId}
       and placement_epoch = ${fence.placementEpoch}
       and expires_at > hearth_now()
       for share`;
  return rows.length === 1;
}

/** What has lapsed stays lapsed: its runs may already count as lost. */
export async function renewPlacements(tx: Tx, holder: string, ttlMs: number): Promise<string[]> {
  const rows = await tx<{ home: string }[]>`
    update home.placements
       set expires_at = hearth_now() + ${ttlMs}::integer * interval '1 millisecond',
           updated_at = hearth_now()
     where holder = ${holder}
       and expires_at > hearth_now()
    returning home`;
  return rows.map((row) => row.home);
}

export async function releasePlacements(tx: Tx, holder: string): Promise<void> {
  await tx`
    update home.placements
       set expires_at = hearth_now(),
           updated_at = hearth_now()
     where holder = ${holder}
       and expires_at > hearth_now()`;
}

/** Ends the placement of one agent, whoever holds it: what still runs under it is fenced at once. */
export async function lapsePlacement(tx: Tx, home: string): Promise<void> {
  await tx`
    update home.placements
       set expires_at = hearth_now(),
           updated_at = hearth_now()
     where home = ${home}
       and expires_at > hearth_now()`;
}

export async function readPlacement(sql: Sql, home: string): Promise<Placement | undefined> {
  const [row] = await sql<Placement[]>`
    select home, placement_lease_id, placement_epoch, holder, expires_at
      from home.placements
     where home = ${home}`;
  return row;
}
