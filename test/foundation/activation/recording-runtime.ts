// A runtime that completes with what it was shown: the data of its activation inputs, in their order. It can be steered, and
// with `data.hold` it stays until it is stopped or steered.
import type { Activation, Runtime, RuntimeEvent, RuntimeKind, Steering } from '../../../src/foundation/index.js';
import { missingRuntime } from '../../../src/foundation/index.js';
import type { JsonValue } from '../../../src/protocol/index.js';

export const recordingRuntime: RuntimeKind = { id: 'recording', checkConfig: () => undefined, open: openRecording };

const held = new Map<string, (steering: Steering) => void>();

function openRecording(): Runtime {
  return {
    describe: () => ({
      ...missingRuntime('recording'),
      runtime_version: '1',
      supports_steer: true,
      state_portability: 'portable',
    }),
    activate: (activation) => record(activation),
    steer(runId, steering) {
      const take = held.get(runId);
      take?.(steering);
      return Promise.resolve(take !== undefined);
    },
  };
}

async function* record(activation: Activation): AsyncGenerator<RuntimeEvent> {
  const { contextBundle, runId, signal } = activation;
  const shown = contextBundle.activation_input_refs.map((ref) => dataOf(activation, ref));
  if (shown.some((data) => isHold(data))) {
    await new Promise<void>((resolve) => {
      held.set(runId, () => resolve());
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
    held.delete(runId);
  }
  yield signal.aborted
    ? { type: 'run.cancelled', reason: 'signalled' }
    : { type: 'run.completed', result: shown.map((data) => data ?? null) };
}

function dataOf({ contextBundle }: Activation, ref: string): JsonValue {
  const content = contextBundle.observations.find((seen) => seen.source_ref === ref)?.projected_content;
  return content !== null && typeof content === 'object' && !Array.isArray(content) ? (content.data ?? null) : null;
}

function isHold(data: JsonValue): boolean {
  return data !== null && typeof data === 'object' && !Array.isArray(data) && data.hold === true;
}

/** Lets every held run of this process complete. */
export function releaseHeld(): void {
  for (const release of held.values()) release({ input_id: '', type: '', trust_class: '', data: null });
}
