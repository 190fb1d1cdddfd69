/** Reads of runs, for whoever may see them. */
import type { Sql } from '../../platform/index.js';
import { homeOf } from '../../protocol/index.js';
import { type ListRuns, type RunRecord, selectRun, selectRuns } from '../run/index.js';
import type { TimedRows } from '../timed-list/index.js';
import { selectInputIds } from './candidate-store.js';
import { mayRead, type Reader } from './read-input.js';

/** A run as its readers see it, with the input that woke it. */
export type RunView = RunRecord & { activationInputId: string | null };

/** Undefined for what does not exist and for what the caller may not see alike. */
export async function readRun(sql: Sql, id: string, { caller }: { caller: Reader }): Promise<RunView | undefined> {
  const run = await selectRun(sql, homeOf(id) ?? '', id);
  if (!run || !mayRead(caller, run)) return undefined;
  const [view] = await withInputs(sql, [run]);
  return view;
}

export type ListRunsQuery = Omit<ListRuns, keyof Reader> & { caller: Reader };

/** The newest first, in both directions. */
export async function listRuns(sql: Sql, { caller, ...query }: ListRunsQuery): Promise<TimedRows<RunView>> {
  const found = await selectRuns(sql, { ...query, ...caller });
  return found.kind === 'rows' ? { kind: 'rows', rows: await withInputs(sql, found.rows) } : found;
}

async function withInputs<Run extends RunRecord>(
  sql: Sql,
  runs: readonly Run[],
): Promise<(Run & { activationInputId: string | null })[]> {
  const woken = runs.map(({ home, activationCandidateId }) => ({ home, id: activationCandidateId }));
  const inputs = runs.length === 0 ? new Map<string, string>() : await selectInputIds(sql, woken);
  return runs.map((run) => ({ ...run, activationInputId: inputs.get(run.activationCandidateId) ?? null }));
}
