/**
 * Keeps what this host uses: the placements of agents that it drives runs of, or did a moment ago, and the leases of these
 * runs, and moves lease time on. A run whose fence has moved on is told to stop, because nothing it does counts any more: also
 * after this process has slept through its leases, when its first beat finds them over. A row that somebody has locked is
 * tried again in a moment, so that one that is stuck lets no other lapse.
 */
import type { Tx } from '../../platform/index.js';
import type { FoundationParts, StepOutcome } from '../parts.js';
import { placementLimits } from '../placement/index.js';
import type { RenewedPlacement } from '../ports.js';
import { extendLeases, runLimits } from '../run/index.js';
import type { LiveRun } from '../runtime/index.js';

type Keeper = Pick<FoundationParts, 'db' | 'clock' | 'placements' | 'leaseClock' | 'holder' | 'live'>;

const tries = 10;
const betweenTriesMs = 100;

/** A step that is always done: the loop runs at the heartbeat. */
export async function keepLeases(keeper: Keeper): Promise<StepOutcome> {
  const { live, clock, leaseClock } = keeper;
  await leaseClock.beat();
  // What is idle for longer is on its way to others; so is what lapses before the next beat.
  const wanted = live.placed().filter(({ idleMs }) => idleMs === undefined || idleMs < placementLimits.idleKeptMs);
  let homes = wanted.map(({ home }) => home);
  let runs = live.list();
  for (let attempt = 0; attempt < tries && (homes.length > 0 || runs.length > 0); attempt += 1) {
    if (attempt > 0) await clock.sleep(betweenTriesMs);
    const left = await beat(keeper, { homes, runs });
    homes = left.homes;
    runs = left.runs;
  }
  return 'idle';
}

interface Beat {
  homes: readonly string[];
  runs: readonly LiveRun[];
}

/** One commit. Answers what could not be looked at because it was locked. */
async function beat({ db, placements, holder, live }: Keeper, { homes, runs }: Beat): Promise<BeatLeft> {
  const { had, kept } = await db.transact('keep-leases', async (tx) => {
    const had = await placements.renew(tx, holder, homes);
    return { had, kept: await keepRuns(tx, had, runs) };
  });
  const stillHere = new Set(had.map(({ home }) => home));
  // One that is used is not forgotten: its runs are stopped below, and its next claim starts a new epoch.
  for (const home of homes) if (!stillHere.has(home)) live.forget(home);
  const standing = new Map(kept.map(({ id, extended }) => [id, extended]));
  // A run that has just ended is gone from the list, or will be in a moment; stopping it again changes nothing.
  for (const run of runs) if (!standing.has(run.runId) && !isLocked(had, run)) run.stop('lost');
  return {
    homes: had.filter(({ renewed }) => !renewed).map(({ home }) => home),
    runs: runs.filter((run) => standing.get(run.runId) === false || isLocked(had, run)),
  };
}

interface BeatLeft {
  homes: string[];
  runs: LiveRun[];
}

/** A run lives no longer than the placement that it runs under. */
function keepRuns(tx: Tx, had: readonly RenewedPlacement[], runs: readonly LiveRun[]) {
  const renewed = runs.filter(({ fence }) =>
    had.some(
      ({ home, placementLeaseId, renewed }) =>
        renewed && home === fence.home && placementLeaseId === fence.placementLeaseId,
    ),
  );
  return extendLeases(tx, { runs: renewed, leaseMs: runLimits.leaseMs });
}

function isLocked(had: readonly RenewedPlacement[], { fence }: LiveRun): boolean {
  return had.some(
    ({ home, placementLeaseId, renewed }) =>
      !renewed && home === fence.home && placementLeaseId === fence.placementLeaseId,
  );
}
