/** The runtimes installed in this process, by id. */
import { LRUCache } from 'lru-cache';
import { Problem } from '../../protocol/index.js';
import type { Runtime, RuntimeKind, RuntimeRegistry } from './runtime.js';

const openedRuntimes = 1_000;

export function createRuntimeRegistry(kinds: readonly RuntimeKind[]): RuntimeRegistry {
  const byId = new Map(kinds.map((kind) => [kind.id, kind]));
  const opened = new LRUCache<string, Runtime>({ max: openedRuntimes });
  return {
    open({ id, config }) {
      // A configured runtime serves all runs of its agents; reading the same configuration again would say the same.
      const key = `${id} ${JSON.stringify(config)}`;
      const known = opened.get(key) ?? byId.get(id)?.open(config);
      if (known) opened.set(key, known);
      return known;
    },
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
