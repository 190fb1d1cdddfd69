/**
 * Takes queued runs for this host, with their agents' placements and the record of what they work on, in one commit. A crash
 * before it leaves them queued; after it their leases end, and somebody else tries their inputs again.
 */
import type { Tx } from '../../platform/index.js';
import { insertBundles } from '../context/index.js';
import type { FoundationParts } from '../parts.js';
import type { Fence } from '../ports.js';
import { type ClaimedRun, type RunRecord, runLimits, startQueuedRuns } from '../run/index.js';
import { appendEventsOfRuns, type NewRunEvent } from '../run-event/index.js';
import type { Preparation } from './prepare-run.js';

export interface ReadyRun {
  run: RunRecord;
  preparation: Preparation;
}

export interface ClaimedRuns {
  claimed: { run: ClaimedRun; preparation: Preparation }[];
  /** Homes whose placement another host holds. */
  elsewhere: string[];
}

type Claimer = Pick<FoundationParts, 'db' | 'placements' | 'holder'>;

export function claimRuns(claimer: Claimer, ready: readonly ReadyRun[]): Promise<ClaimedRuns> {
  return claimer.db.transact('start-runs', async (tx) => {
    const homes = [...new Set(ready.map(({ run }) => run.home))].sort();
    const fences = await claimPlacements(claimer, tx, homes);
    const started = await startQueuedRuns(tx, {
      holder: claimer.holder,
      leaseMs: runLimits.leaseMs,
      starts: ready.flatMap(({ run: { home, id }, preparation }) => {
        const fence = fences.get(home);
        const bundleDigest = 'failed' in preparation ? null : preparation.bundleDigest;
        return fence ? [{ home, id, fence, bundleDigest }] : [];
      }),
    });
    const claimed = started.flatMap((run) => {
      const fence = fences.get(run.home);
      const own = ready.find((each) => each.run.id === run.id);
      return fence && own ? [{ run: { ...run, fence }, preparation: own.preparation }] : [];
    });
    await insertBundles(
      tx,
      claimed.flatMap(({ run: { home }, preparation }) =>
        'failed' in preparation ? [] : [{ home, digest: preparation.bundleDigest, bytes: preparation.bundleBytes }],
      ),
    );
    await appendEventsOfRuns(
      tx,
      claimed.map(({ run, preparation }) => ({ home: run.home, runId: run.id, events: eventsOf(run, preparation) })),
    );
    return { claimed, elsewhere: homes.filter((home) => !fences.has(home)) };
  });
}

/** In one order, so that two hosts never wait for each other in a ring. */
async function claimPlacements(
  { placements, holder }: Claimer,
  tx: Tx,
  homes: readonly string[],
): Promise<ReadonlyMap<string, Fence>> {
  const claims = await Promise.all(homes.map((home) => placements.claim(tx, home, holder)));
  return new Map(claims.flatMap((fence) => (fence ? [[fence.home, fence] as const] : [])));
}

function eventsOf(run: ClaimedRun, preparation: Preparation): NewRunEvent[] {
  const started = { type: 'run.started', data: { attempt: run.attempt, placement_epoch: run.fence.placementEpoch } };
  if ('failed' in preparation) return [started];
  const { bundleDigest: digest, bundleBytes, bundle } = preparation;
  const data = { digest, bytes: bundleBytes.length, activation_input_refs: bundle.activation_input_refs };
  return [started, { type: 'context.bundle', data }];
}
