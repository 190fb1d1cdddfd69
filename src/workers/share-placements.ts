// The loop that hands agents to hosts that ask for them, and lets go of those that this host has no use for.
import { type FoundationParts, foundationChannels, placementLimits, sharePlacements } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

const idleMs = placementLimits.heartbeatMs;

export function runSharePlacements(parts: FoundationParts, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = parts;
  const step = () => sharePlacements(parts);
  return runWorker({
    name: 'share-placements',
    clock,
    wakeups,
    log,
    random,
    channel: foundationChannels.placements,
    idleMs,
    step,
    signal,
  });
}
