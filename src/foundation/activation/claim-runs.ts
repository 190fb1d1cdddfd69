/**
 * Takes queued runs for this host, with their agents' placements and the record of what they work on, in one commit. A crash
 * before it leaves them queued; after it their leases end, and somebody else tries their inputs again.
 */
import { insertBundles } from '../context/index.js';
import type { FoundationParts } from '../parts.js';
import type { Fence } from '../ports.js';
import { type ClaimedRun, type RunRecord, runLimits, startQueuedRuns } from '../run/index.js';
import { insertEventsOfRuns, type NewRunEvent } from '../run-event/index.js';
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
    const homes = [...new Set(ready.map(({ run }) => run.home))];
    const claimedHomes = await claimer.placements.claim(tx, claimer.holder, homes);
    const fences = new Map(claimedHomes.map((fence) => [fence.home, fence]));
    const starts = ready.flatMap(({ run, preparation }) => {
      const fence = fences.get(run.home);
      return fence ? [{ run, preparation, fence, events: eventsOf(run, fence, preparation) }] : [];
    });
    const started = await startQueuedRuns(tx, {
      holder: claimer.holder,
      leaseMs: runLimits.leaseMs,
      starts: starts.map(({ run: { home, id }, preparation, fence, events }) => {
        const bundleDigest = 'failed' in preparation ? null : preparation.bundleDigest;
        return { home, id, fence, bundleDigest, events: events.length };
      }),
    });
    const claimed = started.flatMap((run) => {
      const own = starts.find((each) => each.run.id === run.id);
      return own ? [{ ...own, run: { ...run, fence: own.fence } }] : [];
    });
    await Promise.all([
      insertBundles(
        tx,
        claimed.flatMap(({ run: { home }, preparation }) =>
          'failed' in preparation ? [] : [{ home, digest: preparation.bundleDigest, bytes: preparation.bundleBytes }],
        ),
      ),
      insertEventsOfRuns(
        tx,
        claimed.map(({ run: { home, id, eventCursor }, events }) => ({
          home,
          runId: id,
          after: eventCursor - events.length,
          events,
        })),
      ),
    ]);
    return { claimed, elsewhere: homes.filter((home) => !fences.has(home)) };
  });
}

function eventsOf({ attempt }: RunRecord, { placementEpoch }: Fence, preparation: Preparation): NewRunEvent[] {
  const started = { type: 'run.started', data: { attempt, placement_epoch: placementEpoch } };
  if ('failed' in preparation) return [started];
  const { bundleDigest: digest, bundleBytes, bundle } = preparation;
  const data = { digest, bytes: bundleBytes.length, activation_input_refs: bundle.activation_input_refs };
  return [started, { type: 'context.bundle', data }];
}
