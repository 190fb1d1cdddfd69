// The clockwork of a domain: the loops of its Foundation, and beside them those that speak with other domains.
import type { ComposedLayers } from './domain-layers.js';
import {
  type FoundationLoops,
  runDeliverOutbox,
  runRefreshPeers,
  runSweepFederation,
  startFoundationLoops,
} from './workers/index.js';

export type DomainWorkers = FoundationLoops;

export function startWorkers({ gateway, foundation }: ComposedLayers): DomainWorkers {
  return startFoundationLoops(foundation, (signal) => [
    runDeliverOutbox(gateway, signal),
    runRefreshPeers(gateway, signal),
    runSweepFederation(gateway, signal),
  ]);
}
