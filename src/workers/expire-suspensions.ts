// The loop that lets waits go on whose time is over.
import { expireSuspensions, type FoundationParts, foundationChannels } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

// Nothing announces that time has passed, so this is how late an expiry may be.
const idleMs = 500;

export function runExpireSuspensions(parts: FoundationParts, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = parts;
  const step = () => expireSuspensions(parts);
  return runWorker({
    name: 'expire-suspensions',
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
