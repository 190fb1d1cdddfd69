// The loop that ends runs whose lease has run out.
import { type FoundationParts, reapRuns } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

const idleMs = 1_000;

export function runReapRuns(parts: FoundationParts, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = parts;
  const step = () => reapRuns(parts);
  return runWorker({ name: 'reap-runs', clock, wakeups, log, random, channel: 'leases', idleMs, step, signal });
}
