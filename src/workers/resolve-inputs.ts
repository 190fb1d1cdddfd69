// The loop that decides what each numbered input does.
import { type FoundationParts, foundationChannels, resolveInputs } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

const idleMs = 500;

export function runResolveInputs(parts: FoundationParts, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = parts;
  const step = () => resolveInputs(parts);
  return runWorker({
    name: 'resolve-inputs',
    clock,
    wakeups,
    log,
    random,
    channel: foundationChannels.inputs,
    idleMs,
    step,
    signal,
  });
}
