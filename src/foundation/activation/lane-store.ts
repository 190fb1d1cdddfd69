/** The queued candidates of a session, as its lane. Whoever takes from it has the session locked. */
import type { Sql, Tx } from '../../platform/index.js';

export interface LaneEntry {
  id: string;
  position: number;
  mergeKey: string | null;
  notBefore: Date | null;
  /** By the database's clock. */
  due: boolean;
  /** Something older is queued behind it. */
  overtakes: boolean;
}

export interface SelectLane {
  home: string;
  sessionId: string;
  /** The longest that a head may be held. */
  heldMs: number;
  limit: number;
  oldestFirst: boolean;
}

/** The first of a lane: by class and then by arrival, or by arrival alone. */
export async function selectLane(
  tx: Tx,
  { home, sessionId, heldMs, limit, oldestFirst }: SelectLane,
): Promise<LaneEntry[]> {
  return tx<LaneEntry[]>`
    select id, position, merge_key, not_before,
           coalesce(not_before not between hearth_now() and hearth_now() + ${heldMs} * interval '1 millisecond', true) as due,
           position > (select min(position)
                         from foundation.candidates
                        where home = ${home} and session_id = ${sessionId} and status = 'queued') as overtakes
      from foundation.candidates
     where home = ${home} and session_id = ${sessionId} and status = 'queued'
     order by ${oldestFirst ? tx`` : tx`lane_rank,`} position, id
     limit ${limit}`;
}

/** How many more may be queued in a session, with what its live run has not been told yet. Below zero at most by repeated steers. */
export async function laneRoom(
  sql: Sql,
  { home, id, activeRunId }: { home: string; id: string; activeRunId: string | null },
  most: number,
): Promise<number> {
  const [row] = await sql<{ load: number }[]>`
    select (select count(*)
              from (select 1
                      from foundation.candidates
                     where home = ${home} and session_id = ${id} and status = 'queued'
                     limit ${most}) queued)
         + (select count(*)
              from foundation.run_controls
             where home = ${home} and run_id = ${activeRunId} and verb = 'steer' and delivered_at is null) as load`;
  return most - (row?.load ?? 0);
}

/** queued → running, all in one run: the seed, and those that it takes along. */
export async function takeAlong(
  tx: Tx,
  { home, seedId, ids, runId }: { home: string; seedId: string; ids: readonly string[]; runId: string },
): Promise<void> {
  const rows = await tx`
    update foundation.candidates
       set status = 'running', run_id = ${runId}, attempt = 1, merged_into = ${seedId}, reason = 'merged'
     where home = ${home} and id = any(${[...ids]}) and status = 'queued'
    returning id`;
  if (rows.length !== ids.length) throw new Error(`a candidate left the lane while ${seedId} took it along`);
  await tx`
    update foundation.candidates
       set merged_count = ${ids.length}
     where home = ${home} and id = ${seedId}`;
}

/** What the run of a seed takes along, in log order. */
export async function selectTakenAlong(
  sql: Sql,
  { home, seedId, limit }: { home: string; seedId: string; limit: number },
): Promise<{ inputHome: string; inputId: string }[]> {
  return sql<{ inputHome: string; inputId: string }[]>`
    select input_home, input_id
      from foundation.candidates
     where home = ${home} and merged_into = ${seedId}
     order by position, id
     limit ${limit}`;
}

/** Idle sessions whose held lane may start by now. None is held for longer than `heldMs`, whatever the clock has done since. */
export async function selectDueLanes(
  sql: Sql,
  { heldMs, limit }: { heldMs: number; limit: number },
): Promise<{ home: string; id: string }[]> {
  return sql<{ home: string; id: string }[]>`
    select home, id
      from foundation.sessions
     where lane_due_at <= hearth_now() or lane_due_at > hearth_now() + ${heldMs} * interval '1 millisecond'
     order by lane_due_at
     limit ${limit}`;
}

export async function postponeLane(tx: Tx, { home, id }: { home: string; id: string }, pauseMs: number): Promise<void> {
  await tx`
    update foundation.sessions
       set lane_due_at = hearth_now() + ${pauseMs} * interval '1 millisecond'
     where home = ${home} and id = ${id} and lane_due_at is not null`;
}
