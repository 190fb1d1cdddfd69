/** Reads of runs, for whoever may see them. */
import type { Sql } from '../../platform/index.js';
import { homeOf } from '../../protocol/index.js';
import { type RunRecord, type RunStatus, selectRun, selectRuns } from '../run/index.js';
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

export interface ListRunsQuery {
  caller: Reader;
  status?: RunStatus;
  /** Id of the last run seen. */
  after?: string;
  limit: number;
}

/** The newest first. */
export async function listRuns(sql: Sql, { caller, status, after, limit }: ListRunsQuery): Promise<RunView[]> {
  const runs = await selectRuns(sql, {
    ...caller,
    limit,
    ...(status === undefined ? {} : { status }),
    ...(after === undefined ? {} : { after: { home: homeOf(after) ?? '', id: after } }),
  });
  return withInputs(sql, runs);
}

async function withInputs(sql: Sql, runs: readonly RunRecord[]): Promise<RunView[]> {
  const woken = runs.map(({ home, activationCandidateId }) => ({ home, id: activationCandidateId }));
  const inputs = runs.length === 0 ? new Map<string, string>() : await selectInputIds(sql, woken);
  return runs.map((run) => ({ ...run, activationInputId: inputs.get(run.activationCandidateId) ?? null }));
}
