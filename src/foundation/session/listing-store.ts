/** The list of sessions, the newest first, and what stands in the lane of one. */
import type { Sql } from '../../platform/index.js';
import {
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
import type { SessionRecord, SessionState } from './session.js';

export type ListedSession = SessionRecord & { createdAt: Date; updatedAt: Date };

export interface ListSessions {
  tenant: string;
  homes: readonly string[] | 'all';
  state?: SessionState | undefined;
  range: TimedRange;
}

const sorted = { table: 'foundation.sessions', by: 'created_at' } as const;

export function selectSessions(
  sql: Sql,
  { tenant, homes, state, range }: ListSessions,
): Promise<TimedRows<ListedSession>> {
  const scope = { tenant, homes };
  return readTimed<ListedSession>({
    range,
    edges: (from) => readEdges(sql, { ...sorted, from, scope }),
    rows: () => sql<Placed<ListedSession>[]>`
      select ${listedColumns(sql)}, ${placeColumn(sql, sorted)}
        from foundation.sessions
       where ${inScope(sql, scope)}
         ${state === undefined ? sql`` : sql`and state = ${state}`}
         ${inRange(sql, sorted, range)}
       ${inOrder(sql, sorted, range)}`,
  });
}

export async function selectListedSession(sql: Sql, home: string, id: string): Promise<ListedSession | undefined> {
  const [row] = await sql<ListedSession[]>`
    select ${listedColumns(sql)}
      from foundation.sessions
     where home = ${home} and id = ${id}`;
  return row;
}

function listedColumns(sql: Sql) {
  return sql`
    home, id, tenant, agent, state, runtime_id, runtime_version, runtime_state_ref, active_run_id,
    forked_from_session_id, created_at, updated_at`;
}
