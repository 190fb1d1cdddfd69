/** The Placements port over one table: the authoritative record of which host acts for which agent. */
import { isHomeTag } from '../../protocol/index.js';
import { mintFrom, newId } from '../new-id.js';
import type { Fence, HeldFence, Placements } from '../ports.js';
import {
  claimPlacements,
  lockPlacements,
  type PlacementTable,
  releasePlacements,
  renewPlacements,
  selectHeldElsewhere,
  selectWanted,
  wantPlacements,
} from './store.js';

export function tablePlacements(table: PlacementTable, parts: Parameters<typeof mintFrom>[0]): Placements {
  return {
    async claim(tx, holder, homes) {
      const stranger = homes.find((home) => !isHomeTag(home));
      if (stranger !== undefined) throw new Error(`not a home: ${stranger}`);
      const mint = mintFrom(parts);
      const claims = homes.map((home) => ({ home, newLeaseId: newId('placelease', home, mint) }));
      return claims.length === 0 ? [] : claimPlacements(tx, table, { holder, claims });
    },
    async hold(tx, fence) {
      return (await lockPlacements(tx, table, [fence])).length === 1 ? held(fence) : undefined;
    },
    async holdAll(tx, fences) {
      const standing = new Set(await lockPlacements(tx, table, fences));
      return fences.flatMap((fence) => (standing.has(fence.home) ? [held(fence)] : []));
    },
    renew: (tx, holder, homes) => renewPlacements(tx, table, { holder, homes }),
    release: (tx, holder, homes) => releasePlacements(tx, table, { holder, homes }),
    heldElsewhere: (sql, holder, homes) => selectHeldElsewhere(sql, table, { holder, homes }),
    ask: (tx, holder, homes) => wantPlacements(tx, table, { holder, homes }),
    asked: (sql, holder) => selectWanted(sql, table, holder),
  };
}

/** The brand constructor: only a comparison that locked the row leads here. */
function held(fence: Fence): HeldFence {
  return { ...fence } as HeldFence;
}
