// Runtimes whose runs do nothing until the test says how they end.
import {
  type Activation,
  missingRuntime,
  type RunEnding,
  type Runtime,
  type RuntimeDescriptor,
  type RuntimeEvent,
  type RuntimeKind,
} from '../../../src/foundation/index.js';

export interface Puppets {
  kinds: RuntimeKind[];
  /** The runs that were activated and have not ended, by id. */
  live: Map<string, (ending: RunEnding) => void>;
  /** The inputs that each run was told, in order. */
  told: Map<string, string[]>;
}

/** Takes nothing and cannot branch. */
export const rigid: RuntimeDescriptor = {
  ...missingRuntime('rigid'),
  runtime_version: '1',
  state_portability: 'native',
};
export const pliant: RuntimeDescriptor = {
  ...missingRuntime('pliant'),
  runtime_version: '1',
  supports_steer: true,
  supports_fork: true,
  state_portability: 'portable',
};

export function createPuppets(): Puppets {
  const live: Puppets['live'] = new Map();
  const told: Puppets['told'] = new Map();
  const kinds = [rigid, pliant].map((descriptor) => ({
    id: descriptor.runtime_id,
    checkConfig: () => undefined,
    open: () => puppet(descriptor, live, told),
  }));
  return { kinds, live, told };
}

function puppet(descriptor: RuntimeDescriptor, live: Puppets['live'], told: Puppets['told']): Runtime {
  return {
    describe: () => descriptor,
    activate: (activation) => untilTold(activation, live),
    steer(runId, { input_id, data }) {
      const taken = !(data !== null && typeof data === 'object' && !Array.isArray(data) && data.refused === true);
      if (taken) told.set(runId, [...(told.get(runId) ?? []), input_id]);
      return Promise.resolve(taken);
    },
  };
}

async function* untilTold({ runId, signal }: Activation, live: Puppets['live']): AsyncGenerator<RuntimeEvent> {
  const ending = await new Promise<RunEnding>((resolve) => {
    live.set(runId, resolve);
    const stop = () => resolve({ type: 'run.cancelled', reason: 'signalled' });
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  live.delete(runId);
  yield ending;
}
