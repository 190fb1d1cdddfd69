// The loop that begins lanes whose held head is due.
import { type FoundationParts, foundationChannels, openLanes } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

// Nothing announces that time has passed, so this is how late a held lane may begin.
const idleMs = 200;

export function runOpenLanes(parts: FoundationParts, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = parts;
  const step = () => openLanes(parts);
  return runWorker({
    name: 'open-lanes',
    clock,
    wakeups,
    log,
    random,
    channel: foundationChannels.lanes,
    idleMs,
    step,
    signal,
  });
}
