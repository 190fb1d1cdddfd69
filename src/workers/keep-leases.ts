// The loop that keeps this host's placements and the leases of the runs it drives.
import { type FoundationParts, keepLeases, placementLimits } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

const idleMs = placementLimits.heartbeatMs;

export function runKeepLeases(parts: FoundationParts, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = parts;
  const step = () => keepLeases(parts);
  return runWorker({ name: 'keep-leases', clock, wakeups, log, random, channel: 'leases', idleMs, step, signal });
}
