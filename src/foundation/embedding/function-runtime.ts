/** A runtime that is one function of this process: it gets the activation, and what it answers is the run's result. */
import type { JsonValue } from '../../protocol/index.js';
import type { Activation, RuntimeEvent, RuntimeKind } from '../runtime/index.js';

interface FunctionRuntime {
  id: string;
  version?: string;
  /** Gets the data of the input. Throws to fail the run. It acts on the world only through `activation.propose`. */
  run(data: JsonValue, activation: Activation): Promise<JsonValue> | JsonValue;
}

export function functionRuntime({ id, version = '1', run }: FunctionRuntime): RuntimeKind {
  return {
    id,
    checkConfig: () => undefined,
    open: () => ({
      describe: () => ({
        runtime_id: id,
        runtime_version: version,
        supports_steer: false,
        supports_interrupt: false,
        supports_native_resume: false,
        supports_fork: false,
        supports_checkpoint: false,
        suspend: 'host',
        state_portability: 'portable',
      }),
      async *activate(activation): AsyncGenerator<RuntimeEvent> {
        yield { type: 'run.completed', result: await run(dataOf(activation), activation) };
      },
    }),
  };
}

/** Of what woke the run. */
function dataOf({ contextBundle }: Activation): JsonValue {
  const { observations, activation_input_ref: ref } = contextBundle;
  const shown = observations.find(({ source_ref }) => source_ref === ref)?.projected_content;
  return shown !== null && typeof shown === 'object' && !Array.isArray(shown) ? (shown.data ?? null) : null;
}
