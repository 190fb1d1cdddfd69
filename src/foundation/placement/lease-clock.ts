/**
 * Lease time (F6, F15): the clock by which hosts tell whether one of them is alive. It is a row that living hosts move on, each
 * by what its own monotonic clock has counted since its last heartbeat. So it runs while any host lives, stands still while
 * none does or the database is away, and no step of a wall clock reaches it. It never goes back.
 */
import type { Clock, Database } from '../../platform/index.js';
import { placementLimits } from './placement.js';
import { moveLeaseTime } from './store.js';

export interface LeaseClock {
  /** One heartbeat of this host. */
  beat(): Promise<void>;
}

interface Beat {
  /** Lease time as this host has left it. */
  at: Date;
  monotonicMs: number;
}

export function leaseClock({ db, clock }: { db: Database; clock: Pick<Clock, 'monotonicMs'> }): LeaseClock {
  let last: Beat | undefined;
  return {
    async beat() {
      const move = last && { from: last.at, byMs: countedMs(clock.monotonicMs() - last.monotonicMs) };
      const at = await db.transact('move-lease-time', (tx) => moveLeaseTime(tx, move));
      // Taken afterwards: what the commit took does not count, so that lease time is never ahead of any clock.
      last = { at, monotonicMs: clock.monotonicMs() };
    },
  };
}

/** Who comes late was asleep or cut off, and so may others have been, who are to have their time to come back. */
export function countedMs(elapsedMs: number): number {
  const { heartbeatMs } = placementLimits;
  return elapsedMs <= 2 * heartbeatMs ? elapsedMs : heartbeatMs / 2;
}
