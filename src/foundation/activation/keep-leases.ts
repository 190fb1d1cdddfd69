/**
 * Keeps what this host holds: its placements, and the leases of the runs that it truly drives. A run whose fence has moved
 * on is told to stop, because nothing it does counts any more.
 */
import type { FoundationParts, StepOutcome } from '../parts.js';
import { extendLeases, runLimits } from '../run/index.js';
import type { LiveRun } from '../runtime/index.js';

type Keeper = Pick<FoundationParts, 'db' | 'placements' | 'holder' | 'live'>;

/** A step that is always done: the loop runs at the heartbeat. */
export async function keepLeases({ db, placements, holder, live }: Keeper): Promise<StepOutcome> {
  await db.transact('renew-placements', (tx) => placements.renew(tx, holder));
  for (const runs of byLease(live.list()).values()) {
    const fence = runs[0]?.fence;
    if (!fence) continue;
    const kept = await db.transact('keep-leases', async (tx) => {
      if (!(await placements.hold(tx, fence))) return [];
      return extendLeases(tx, { fence, runIds: runs.map(({ runId }) => runId), leaseMs: runLimits.leaseMs });
    });
    const lost = runs.filter(({ runId }) => !kept.includes(runId));
    // A run that has just ended is gone from the list, or will be in a moment; stopping it again changes nothing.
    for (const run of lost) run.stop('lost');
  }
  return 'idle';
}

function byLease(runs: readonly LiveRun[]): Map<string, LiveRun[]> {
  const groups = new Map<string, LiveRun[]>();
  for (const run of runs) {
    const key = `${run.fence.placementLeaseId} ${run.fence.placementEpoch}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return groups;
}
