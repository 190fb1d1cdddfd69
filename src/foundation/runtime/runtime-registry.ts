/** The runtimes installed in this process, by id. */
import { Problem } from '../../protocol/index.js';
import type { RuntimeKind, RuntimeRegistry } from './runtime.js';

export function createRuntimeRegistry(kinds: readonly RuntimeKind[]): RuntimeRegistry {
  const byId = new Map(kinds.map((kind) => [kind.id, kind]));
  return {
    open: ({ id, config }) => byId.get(id)?.open(config),
    check({ id, config }) {
      const kind = byId.get(id);
      if (!kind) {
        throw new Problem(
          'schema_invalid',
          `runtime.id: ${id} is not installed; installed: ${[...byId.keys()].join(', ')}`,
        );
      }
      kind.checkConfig(config);
    },
  };
}
