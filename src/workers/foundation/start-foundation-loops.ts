// Starts the loops of a Foundation, and says in which order they stop.
import { setMaxListeners } from 'node:events';
import { drainRuns, type FoundationParts } from '../../foundation/index.js';
import { runExpireSuspensions } from '../expire-suspensions.js';
import { runFireSchedules } from '../fire-schedules.js';
import { runKeepLeases } from '../keep-leases.js';
import { runOpenLanes } from '../open-lanes.js';
import { runReapRuns } from '../reap-runs.js';
import { runRecoverEffects } from '../recover-effects.js';
import { runReplaySuspensions } from '../replay-suspensions.js';
import { runResolveInputs } from '../resolve-inputs.js';
import { runSharePlacements } from '../share-placements.js';
import { runStartRuns } from '../start-runs.js';

export interface FoundationLoops {
  /** Claims nothing more; runs under way get `graceMs` to end, then they are given back with their placements. */
  stop(options: { graceMs: number }): Promise<void>;
}

const claiming = [
  runResolveInputs,
  runReplaySuspensions,
  runExpireSuspensions,
  runFireSchedules,
  runStartRuns,
  runOpenLanes,
  runSharePlacements,
  runReapRuns,
  runRecoverEffects,
];

/** `beside` are loops of others that begin work too: they stop together with these. */
export function startFoundationLoops(
  foundation: FoundationParts,
  beside: (signal: AbortSignal) => Promise<void>[] = () => [],
): FoundationLoops {
  const stopClaiming = new AbortController();
  // Every loop and every delivery under way listens; Node would take so many for a leak.
  setMaxListeners(0, stopClaiming.signal);
  // What keeps the leases of runs under way has to outlive the loops that begin new work.
  const stopKeeping = new AbortController();
  const { signal } = stopClaiming;
  const claimers = [...claiming.map((run) => run(foundation, signal)), ...beside(signal)];
  const keeper = runKeepLeases(foundation, stopKeeping.signal);

  return {
    async stop(options) {
      // First of all: a step that is under way takes nothing more (BR-42).
      foundation.live.close();
      stopClaiming.abort();
      await Promise.all(claimers);
      await drainRuns(foundation, options);
      stopKeeping.abort();
      await keeper;
    },
  };
}
