// The state that a branch begins with, when its runtime forks by itself.
import type { JsonValue } from '../../protocol/index.js';
import type { FoundationParts } from '../parts.js';
import { runLimits } from '../run/index.js';
import type { PreparedRun } from './prepare-run.js';

/**
 * The run as it is to be driven; undefined when its fork failed. Nobody can stop a run before its runtime is active, so a
 * fork that throws or hangs fails it.
 */
export async function withForkedState(
  { clock }: Pick<FoundationParts, 'clock'>,
  prepared: PreparedRun,
): Promise<PreparedRun | undefined> {
  const { runtime, runtimeState, origin } = prepared;
  const fork = origin === 'fork' ? runtime.fork?.bind(runtime) : undefined;
  if (!fork || runtimeState === undefined) return prepared;
  const done = new AbortController();
  const forked = async (): Promise<{ state: JsonValue }> => ({ state: await fork(runtimeState) });
  const begun = forked().catch(() => undefined);
  const late = clock.sleep(runLimits.stopGraceMs, done.signal).then(() => undefined);
  const result = await Promise.race([begun, late]).finally(() => done.abort());
  return result && { ...prepared, runtimeState: result.state };
}
