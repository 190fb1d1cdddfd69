// The loop that makes inputs of slots that have come.
import { type FoundationParts, fireSchedules, foundationChannels, msToNextSlot } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

// Nothing announces that time has passed. No wait is as long as a slot may be far: what is set or changed meanwhile wakes the
// loop, but that is a hint, and the database's clock, which alone counts, may be moved.
const longestWaitMs = 5_000;
// Due already, yet not ours: another process is at it.
const shortestWaitMs = 20;

export function runFireSchedules(parts: FoundationParts, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = parts;
  let waitMs = shortestWaitMs;
  return runWorker({
    name: 'fire-schedules',
    clock,
    wakeups,
    log,
    random,
    channel: foundationChannels.schedules,
    idleMs: () => waitMs,
    async step() {
      const outcome = await fireSchedules(parts);
      const nextMs = outcome === 'idle' ? await msToNextSlot(parts) : undefined;
      waitMs = Math.max(shortestWaitMs, Math.min(longestWaitMs, Math.ceil(nextMs ?? longestWaitMs)));
      return outcome;
    },
    signal,
  });
}
