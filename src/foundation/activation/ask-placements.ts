/**
 * What a host that has room does about queued runs of agents that others have: it asks for the agents whose runs wait for
 * long, one commit a step, for as many as it could drive now.
 */
import { type FoundationParts, foundationChannels } from '../parts.js';
import { placementLimits } from '../placement/index.js';
import type { QueuedRun } from '../run/index.js';

type Asker = Pick<FoundationParts, 'db' | 'wakeups' | 'placements' | 'holder' | 'live'>;

export interface Elsewhere {
  /** Looks which of these runs' agents others have, and remembers them. */
  look(places: readonly QueuedRun[]): Promise<string[]>;
  /** `started`: whether the step found work of its own. */
  ask(started: boolean): Promise<void>;
}

export function lookElsewhere({ db, wakeups, placements, holder, live }: Asker): Elsewhere {
  const waits = new Map<string, number>();
  return {
    async look(places) {
      const homes = [...new Set(places.map(({ home }) => home))];
      const elsewhere = await placements.heldElsewhere(db.sql, holder, homes);
      for (const home of elsewhere) {
        // The oldest comes first.
        const first = places.find((place) => place.home === home);
        if (first && !waits.has(home)) waits.set(home, first.waitedMs);
      }
      return elsewhere;
    },
    async ask(started) {
      const afterMs = started ? placementLimits.askBusyAfterMs : placementLimits.askAfterMs;
      const homes = [...waits].flatMap(([home, waitedMs]) => (waitedMs >= afterMs ? [home] : []));
      const room = Math.max(live.free(), 0);
      if (homes.length === 0 || room === 0) return;
      const fresh = await db.transact('ask-placements', (tx) => placements.ask(tx, holder, homes.slice(0, room)));
      if (fresh.length > 0) wakeups.wake(foundationChannels.placements);
    },
  };
}
