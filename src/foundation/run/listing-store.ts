/** The list of runs, the newest first. */
import type { Sql } from '../../platform/index.js';
import {
  between,
  inOrder,
  inRange,
  inScope,
  type Placed,
  placeColumn,
  readEdges,
  readTimed,
  type TimedRange,
  type TimedRows,
} from '../timed-list/index.js';
import type { RunRecord, RunStatus } from './run.js';

export interface ListRuns {
  tenant: string;
  /** One home, or every home of the tenant. */
  homes: readonly string[] | 'all';
  status?: RunStatus | undefined;
  sessionId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  range: TimedRange;
}

const sorted = { table: 'foundation.runs', by: 'created_at' } as const;

export function selectRuns(sql: Sql, list: ListRuns): Promise<TimedRows<RunRecord>> {
  const { tenant, homes, status, sessionId, range } = list;
  const scope = { tenant, homes };
  return readTimed<RunRecord>({
    range,
    edges: (from) => readEdges(sql, { ...sorted, from, scope }),
    rows: () => sql<Placed<RunRecord>[]>`
      select home, id, tenant, session_id, status, activation_candidate_id, resumed_from_run_id, retry_of_run_id,
             attempt, runtime_id, runtime_version, holder, placement_lease_id, placement_epoch, lease_expires_at,
             bundle_digest, model_input_record, input_log_cursor, event_cursor, reason_code, result, created_at,
             started_at, ended_at, ${placeColumn(sql, sorted)}
        from foundation.runs
       where ${inScope(sql, scope)}
         ${status === undefined ? sql`` : sql`and status = ${status}`}
         ${sessionId === undefined ? sql`` : sql`and session_id = ${sessionId}`}
         ${between(sql, sorted, list)}
         ${inRange(sql, sorted, range)}
       ${inOrder(sql, sorted, range)}`,
  });
}
