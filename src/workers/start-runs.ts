// The loop that claims queued runs for this host and drives them.
import { type FoundationParts, foundationChannels, startRuns } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

const idleMs = 500;

export function runStartRuns(parts: FoundationParts, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = parts;
  const step = () => startRuns(parts);
  return runWorker({
    name: 'start-runs',
    clock,
    wakeups,
    log,
    random,
    channel: foundationChannels.runs,
    idleMs,
    step,
    signal,
  });
}
