// The loop that reads the log again for waits whose process died right after they began.
import { type FoundationParts, foundationChannels, replaySuspensions } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

const idleMs = 1_000;

export function runReplaySuspensions(parts: FoundationParts, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = parts;
  const step = () => replaySuspensions(parts);
  return runWorker({
    name: 'replay-suspensions',
    clock,
    wakeups,
    log,
    random,
    channel: foundationChannels.suspensions,
    idleMs,
    step,
    signal,
  });
}
