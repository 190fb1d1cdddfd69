// What the database says of a domain that was worked on by several processes: everything that must never have happened.
import { vi } from 'vitest';
import type { Database } from '../../src/platform/index.js';

/** Waits until every input is decided on and nothing runs or waits in a queue. */
export async function atRest(db: Database, timeoutMs: number): Promise<void> {
  let left: object | undefined;
  await vi
    .waitUntil(
      async () => {
        [left] = await db.sql`
          select (select count(*) from foundation.inputs where position is null) as unnumbered,
                 (select count(*) from foundation.input_log_heads where resolved_position < position) as unresolved,
                 (select count(*) from foundation.runs where status in ('queued', 'running')) as open_runs,
                 (select count(*) from foundation.candidates where status in ('queued', 'running')) as open_candidates,
                 (select count(*) from foundation.sessions where state = 'active') as busy`;
        return Object.values(left ?? {}).every((count) => count === 0);
      },
      { timeout: timeoutMs, interval: 100 },
    )
    .catch((error: unknown) => {
      throw new Error(`not at rest after ${timeoutMs} ms: ${JSON.stringify(left)}`, { cause: error });
    });
}

/** One line for each thing that must never be; none is the proof. */
export async function faultsOf({ sql }: Database): Promise<string[]> {
  const overlaps = await sql`
    select a.id, b.id as other
      from foundation.runs a
      join foundation.runs b on b.home = a.home and b.session_id = a.session_id and a.id < b.id
     where a.started_at < coalesce(b.ended_at, 'infinity') and b.started_at < coalesce(a.ended_at, 'infinity')`;
  const disorder = await sql`
    select id
      from (select id, input_log_cursor,
                   lag(input_log_cursor) over (partition by home, session_id order by started_at) as before
              from foundation.runs
             where status = 'completed' and resumed_from_run_id is null) ordered
     where input_log_cursor <= before`;
  const sharedEpochs = await sql`
    select home
      from foundation.runs
     where holder is not null
     group by home, placement_epoch
    having count(distinct holder) > 1 or count(distinct placement_lease_id) > 1`;
  const epochsBack = await sql`
    select id
      from (select id, placement_epoch, lag(placement_epoch) over (partition by home order by started_at) as before
              from foundation.runs
             where started_at is not null) ordered
     where placement_epoch < before`;
  const repeated = await sql`
    select activation_candidate_id as id
      from foundation.runs
     where status in ('completed', 'suspended')
     group by activation_candidate_id
    having count(*) > 1`;
  const twoEnds = await sql`
    select run_id as id
      from foundation.run_events
     where type in ('run.completed', 'run.failed', 'run.cancelled', 'run.suspended', 'run.budget_exceeded')
     group by run_id
    having count(*) > 1`;
  const unexplained = await sql`
    select id
      from foundation.runs r
     where status = 'failed'
       and (reason_code not in ('lease_expired', 'host_stopping')
            or not exists (select 1 from foundation.runs n where n.home = r.home and n.retry_of_run_id = r.id))`;
  const lines = { overlaps, disorder, sharedEpochs, epochsBack, repeated, twoEnds, unexplained };
  return Object.entries(lines).flatMap(([fault, rows]) => rows.map((row) => `${fault}: ${JSON.stringify(row)}`));
}

/** How many runs each host has completed. */
export async function sharesOf({ sql }: Database): Promise<Map<string, number>> {
  const rows = await sql<{ holder: string; count: number }[]>`
    select holder, count(*) as count
      from foundation.runs
     where status in ('completed', 'suspended')
     group by holder`;
  return new Map(rows.map(({ holder, count }) => [holder, count]));
}
