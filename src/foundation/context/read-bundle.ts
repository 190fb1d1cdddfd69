/** What a past run was shown, and whether the stored bytes still are what was recorded. */
import type { Sql } from '../../platform/index.js';
import { digestOf, type JsonValue, parseStrictJson } from '../../protocol/index.js';
import { contextLimits } from './context-bundle.js';
import { selectBundle } from './store.js';

export type ReadBundle =
  | { kind: 'digest_verified'; digest: string; bundle: JsonValue }
  | { kind: 'digest_mismatch'; digest: string }
  | { kind: 'not_found' };

export async function readBundle(sql: Sql, home: string, digest: string): Promise<ReadBundle> {
  const bytes = await selectBundle(sql, home, digest);
  if (!bytes) return { kind: 'not_found' };
  if (digestOf(bytes) !== digest) return { kind: 'digest_mismatch', digest };
  return {
    kind: 'digest_verified',
    digest,
    bundle: parseStrictJson(bytes, { maxBytes: 4 * contextLimits.bundleBytes }),
  };
}
