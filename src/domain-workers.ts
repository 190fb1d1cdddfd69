// The clockwork of a domain: every loop in this process, and the order in which they stop.
import { setMaxListeners } from 'node:events';
import type { ComposedLayers } from './domain-layers.js';
import { drainRuns } from './foundation/index.js';
import {
  runDeliverOutbox,
  runKeepLeases,
  runReapRuns,
  runRecoverEffects,
  runRefreshPeers,
  runReplaySuspensions,
  runResolveInputs,
  runSequenceInputs,
  runStartRuns,
  runSweepFederation,
} from './workers/index.js';

export interface DomainWorkers {
  /** Claims nothing more; runs under way get `graceMs` to end, then they are given back with their placements. */
  stop(options: { graceMs: number }): Promise<void>;
}

export function startWorkers({ gateway, foundation }: ComposedLayers): DomainWorkers {
  const claiming = new AbortController();
  // Every loop and every delivery under way listens; Node would take so many for a leak.
  setMaxListeners(0, claiming.signal);
  // What keeps the leases of runs under way has to outlive the loops that begin new work.
  const keeping = new AbortController();
  const claimers = [
    runSequenceInputs(foundation, claiming.signal),
    runResolveInputs(foundation, claiming.signal),
    runReplaySuspensions(foundation, claiming.signal),
    runStartRuns(foundation, claiming.signal),
    runReapRuns(foundation, claiming.signal),
    runRecoverEffects(foundation, claiming.signal),
    runDeliverOutbox(gateway, claiming.signal),
    runRefreshPeers(gateway, claiming.signal),
    runSweepFederation(gateway, claiming.signal),
  ];
  const keeper = runKeepLeases(foundation, keeping.signal);

  return {
    async stop(options) {
      claiming.abort();
      await Promise.all(claimers);
      await drainRuns(foundation, options);
      keeping.abort();
      await keeper;
    },
  };
}
