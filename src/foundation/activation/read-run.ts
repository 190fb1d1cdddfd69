/** Reads of runs, for whoever may see them. */
import type { Sql } from '../../platform/index.js';
import { homeOf } from '../../protocol/index.js';
import { type RunRecord, type RunStatus, selectRun, selectRuns } from '../run/index.js';
import { mayRead, type Reader } from './read-input.js';

/** Undefined for what does not exist and for what the caller may not see alike. */
export async function readRun(sql: Sql, id: string, { caller }: { caller: Reader }): Promise<RunRecord | undefined> {
  const run = await selectRun(sql, homeOf(id) ?? '', id);
  return run && mayRead(caller, run) ? run : undefined;
}

export interface ListRunsQuery {
  caller: Reader;
  status?: RunStatus;
  /** Id of the last run seen. */
  after?: string;
  limit: number;
}

/** The newest first. */
export function listRuns(sql: Sql, { caller, status, after, limit }: ListRunsQuery): Promise<RunRecord[]> {
  return selectRuns(sql, {
    ...caller,
    limit,
    ...(status === undefined ? {} : { status }),
    ...(after === undefined ? {} : { after: { home: homeOf(after) ?? '', id: after } }),
  });
}
