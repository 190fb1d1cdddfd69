// The Foundation's Placements port over the authoritative record in this domain's database.
import type { Fence, HeldFence, Placements } from '../../foundation/index.js';
import type { Clock, Random } from '../../platform/index.js';
import { isHomeTag, mintId } from '../../protocol/index.js';
import { placementTtlMs } from './placement.js';
import { claimPlacement, lockPlacement, releasePlacements, renewPlacements } from './store.js';

export function homePlacements({ clock, random }: { clock: Clock; random: Random }): Placements {
  return {
    async claim(tx, home, holder) {
      if (!isHomeTag(home)) throw new Error(`not a home: ${home}`);
      const newLeaseId = mintId('placelease', home, { now: clock.now(), random: (count) => random.bytes(count) });
      return claimPlacement(tx, { home, holder, newLeaseId, ttlMs: placementTtlMs });
    },
    async hold(tx, fence) {
      return (await lockPlacement(tx, fence)) ? held(fence) : undefined;
    },
    renew: (tx, holder) => renewPlacements(tx, holder, placementTtlMs),
    release: (tx, holder) => releasePlacements(tx, holder),
  };
}

/** The brand constructor: only a comparison that locked the row leads here. */
function held(fence: Fence): HeldFence {
  return { ...fence } as HeldFence;
}
