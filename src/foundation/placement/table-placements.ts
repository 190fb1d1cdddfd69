/** The Placements port over one table: the authoritative record of which host acts for which agent. */
import { isHomeTag } from '../../protocol/index.js';
import { mintFrom, newId } from '../new-id.js';
import type { Fence, HeldFence, Placements } from '../ports.js';
import {
  claimPlacement,
  lockPlacement,
  type PlacementTable,
  releasePlacements,
  renewPlacements,
  selectHeldElsewhere,
  selectWanted,
  wantPlacements,
} from './store.js';

export function tablePlacements(table: PlacementTable, parts: Parameters<typeof mintFrom>[0]): Placements {
  return {
    claim(tx, home, holder) {
      if (!isHomeTag(home)) throw new Error(`not a home: ${home}`);
      const newLeaseId = newId('placelease', home, mintFrom(parts));
      return claimPlacement(tx, table, { home, holder, newLeaseId });
    },
    async hold(tx, fence) {
      return (await lockPlacement(tx, table, fence)) ? held(fence) : undefined;
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
