// The loop that numbers committed inputs.
import { type FoundationParts, foundationChannels, sequenceInputs } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

const idleMs = 500;

export function runSequenceInputs(parts: FoundationParts, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = parts;
  const step = () => sequenceInputs(parts);
  return runWorker({
    name: 'sequence-inputs',
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
