// The loop that makes inputs of slots that have come.
import { type FoundationParts, fireSchedules, foundationChannels } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

// Nothing announces that time has passed, so this is how late a slot may be. No wait is as long as the slot is far.
const idleMs = 250;

export function runFireSchedules(parts: FoundationParts, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = parts;
  const step = () => fireSchedules(parts);
  return runWorker({
    name: 'fire-schedules',
    clock,
    wakeups,
    log,
    random,
    channel: foundationChannels.schedules,
    idleMs,
    step,
    signal,
  });
}
