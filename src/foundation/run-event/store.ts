/** The run event log. Numbers are given under the run's row lock, so a reader at a cursor never loses an event. */
import type { Sql, Tx } from '../../platform/index.js';
import { homeOf } from '../../protocol/index.js';
import type { Fence } from '../ports.js';
import type { NewRunEvent, RunEvent } from './run-event.js';

export interface AppendRunEvents {
  home: string;
  runId: string;
  events: readonly NewRunEvent[];
}

/** The run has to exist; whether it still runs is the caller's business. */
export async function appendRunEvents(tx: Tx, { home, runId, events }: AppendRunEvents): Promise<void> {
  if (events.length === 0) return;
  const rows = await tx`
    with head as (
      update foundation.runs
         set event_cursor = event_cursor + ${events.length}
       where home = ${home} and id = ${runId}
      returning event_cursor - ${events.length}::integer as before
    )
    insert into foundation.run_events (home, run_id, seq, type, data)
    select ${home}, ${runId}, h.before + event.number, event.value ->> 'type', event.value -> 'data'
      from head h
     cross join jsonb_array_elements(${tx.json(events.map(({ type, data }) => ({ type, data })))})
           with ordinality as event (value, number)
    returning 1`;
  if (rows.length !== events.length) throw new Error('there is no such run to append events to');
}

export interface InsertRunEvents extends AppendRunEvents {
  /** The cursor of the run before them. */
  after: number;
}

/** Of several runs whose cursors the caller moves in the same transaction, with their rows locked. */
export async function insertEventsOfRuns(tx: Tx, inserts: readonly InsertRunEvents[]): Promise<void> {
  const given = inserts.flatMap(({ home, runId, after, events }) =>
    events.map(({ type, data }, place) => ({ home, run_id: runId, seq: after + place + 1, type, data })),
  );
  if (given.length === 0) return;
  await tx`
    insert into foundation.run_events (home, run_id, seq, type, data)
    select home, run_id, seq, type, data
      from jsonb_to_recordset(${tx.json(given)}) as e (home text, run_id text, seq bigint, type text, data jsonb)`;
}

/** Those that its runtime has told, its ending left out. */
export async function countRuntimeEvents(sql: Sql, { home, runId }: { home: string; runId: string }): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)
      from foundation.run_events
     where home = ${home} and run_id = ${runId} and type in ('output', 'log', 'model.input')`;
  return row?.count ?? 0;
}

/**
 * Locks a run that is still running, under the given fence when there is one. False once it has ended or changed hands:
 * an ended run acts no more (BR-57). Lock order: placement, run, effect.
 */
export async function holdRunningRun(
  tx: Tx,
  { home, runId, fence }: { home: string; runId: string; fence?: Fence },
): Promise<boolean> {
  const epoch = fence?.placementEpoch ?? null;
  const lease = fence?.placementLeaseId ?? null;
  const rows = await tx`
    select id
      from foundation.runs
     where home = ${home} and id = ${runId} and status = 'running'
       and (${epoch}::bigint is null or placement_epoch = ${epoch})
       and (${lease}::text is null or placement_lease_id = ${lease})
       for no key update`;
  return rows.length === 1;
}

/** The same for several runs, each under its fence; answers those that are, with their event cursors. */
export async function holdRunningRuns(
  tx: Tx,
  runs: readonly { home: string; id: string; fence: Fence }[],
): Promise<ReadonlyMap<string, number>> {
  const given = runs.map(({ home, id, fence }) => ({
    home,
    id,
    lease: fence.placementLeaseId,
    epoch: fence.placementEpoch,
  }));
  const rows = await tx<{ id: string; eventCursor: number }[]>`
    select r.id, r.event_cursor
      from foundation.runs r
      join jsonb_to_recordset(${tx.json(given)}) as g (home text, id text, lease text, epoch bigint)
        on g.home = r.home and g.id = r.id and g.lease = r.placement_lease_id and g.epoch = r.placement_epoch
     where r.status = 'running'
     order by r.home, r.id
       for no key update of r`;
  return new Map(rows.map(({ id, eventCursor }) => [id, eventCursor]));
}

export type RunEventPage =
  /** `ended`: the run is over and nothing comes after `cursor`. */
  | { kind: 'page'; events: RunEvent[]; cursor: number; ended: boolean; status: string; reasonCode: string | null }
  | { kind: 'cursor_ahead'; last: number }
  /** `oldest`: the first cursor that can still be read from. */
  | { kind: 'cursor_gap'; oldest: number }
  | { kind: 'not_found' };

/** The events after a cursor; 0 is the beginning. */
export async function readRunEvents(
  sql: Sql,
  runId: string,
  { after, limit }: { after: number; limit: number },
): Promise<RunEventPage> {
  const home = homeOf(runId);
  if (home === undefined) return { kind: 'not_found' };
  const [run] = await sql<{ eventCursor: number; over: boolean; status: string; reasonCode: string | null }[]>`
    select event_cursor, ended_at is not null as over, status, reason_code
      from foundation.runs
     where home = ${home} and id = ${runId}`;
  if (!run) return { kind: 'not_found' };
  if (after > run.eventCursor) return { kind: 'cursor_ahead', last: run.eventCursor };
  const events = await sql<RunEvent[]>`
    select seq, type, data, at
      from foundation.run_events
     where home = ${home} and run_id = ${runId} and seq > ${after}
     order by seq
     limit ${limit}`;
  // Numbers have no holes and come with their run's cursor, so a jump at the start means that retention has passed.
  const first = events[0]?.seq ?? run.eventCursor + 1;
  if (first > after + 1) return { kind: 'cursor_gap', oldest: first - 1 };
  const cursor = events.at(-1)?.seq ?? after;
  const ended = run.over && cursor >= run.eventCursor;
  return { kind: 'page', events: [...events], cursor, ended, status: run.status, reasonCode: run.reasonCode };
}
