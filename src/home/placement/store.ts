// What the home itself does with the record of placements; its leases are kept by the Foundation's port.
import type { Sql, Tx } from '../../platform/index.js';
import type { Placement } from './placement.js';

/** Ends the placement of one agent, whoever holds it: what still runs under it is fenced at once. */
export async function lapsePlacement(tx: Tx, home: string): Promise<void> {
  await tx`
    update home.placements
       set expires_at = hearth_lease_now()
     where home = ${home}
       and expires_at > hearth_lease_now()`;
}

export async function readPlacement(sql: Sql, home: string): Promise<Placement | undefined> {
  const [row] = await sql<Placement[]>`
    select home, placement_lease_id, placement_epoch, holder, expires_at
      from home.placements
     where home = ${home}`;
  return row;
}
