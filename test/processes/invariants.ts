// What has to hold of a domain's records after whatever its processes went through: each check names what breaks it.
import { expect } from 'vitest';
import type { Sql } from '../../src/platform/index.js';

/**
 * `inputs`: what was acknowledged to the senders of commands and answers, each to be handled exactly once. Where the clock was
 * moved, what lies before what cannot be read off the rows' times: `clockMoved`.
 */
export async function expectSound(
  sql: Sql,
  inputs: readonly string[],
  { clockMoved = false }: { clockMoved?: boolean } = {},
): Promise<void> {
  expect({
    unhandled: await notOnce(sql, inputs),
    twiceDone: await twiceDone(sql),
    overlapping: clockMoved ? [] : await overlapping(sql),
    outOfOrder: clockMoved ? [] : await outOfOrder(sql),
    notOneEnding: await notOneEnding(sql),
    busyWithoutRun: await busyWithoutRun(sql),
    underOldEpoch: clockMoved ? [] : await underOldEpoch(sql),
    continuations: await notOneContinuation(sql),
  }).toEqual({
    unhandled: [],
    twiceDone: [],
    overlapping: [],
    outOfOrder: [],
    notOneEnding: [],
    busyWithoutRun: [],
    underOldEpoch: [],
    continuations: [],
  });
}

/** F3: an acknowledged input has one candidate that was consumed, whose run went through. */
async function notOnce(sql: Sql, inputs: readonly string[]): Promise<readonly unknown[]> {
  return sql`
    select given.id,
           (select array_agg(c.decision || ' ' || c.status || ' ' || c.reason)
              from foundation.candidates c where c.input_id = given.id) as found
      from unnest(${[...inputs]}::text[]) as given (id)
     where (select count(*)
              from foundation.candidates c
              join foundation.runs r on r.home = c.home and r.activation_candidate_id = c.id
             where c.input_id = given.id and c.status = 'consumed' and r.status in ('completed', 'suspended')) <> 1`;
}

async function twiceDone(sql: Sql): Promise<readonly unknown[]> {
  return sql`
    select activation_candidate_id, count(*)
      from foundation.runs
     where status in ('completed', 'suspended')
     group by activation_candidate_id
    having count(*) > 1`;
}

/** F6: never two runs of one session at once. */
async function overlapping(sql: Sql): Promise<readonly unknown[]> {
  return sql`
    select a.id, b.id as other
      from foundation.runs a
      join foundation.runs b on b.home = a.home and b.session_id = a.session_id and b.id <> a.id
     where a.started_at <= b.started_at
       and b.started_at < coalesce(a.ended_at, 'infinity')`;
}

/** F6: commands of a session run in the order of the log. What resumes a wait goes before what queued behind it. */
async function outOfOrder(sql: Sql): Promise<readonly unknown[]> {
  return sql`
    select *
      from (select r.id, c.position,
                   lag(c.position) over (partition by r.home, r.session_id order by r.started_at) as before
              from foundation.runs r
              join foundation.candidates c on c.home = r.home and c.id = r.activation_candidate_id
             where r.started_at is not null and c.decision in ('ACTIVATE', 'ENQUEUE')) as run
     where position < before`;
}

/** F7, BR-57: one final event, the last one, of numbers without holes, and it is the state that the run ended in. */
async function notOneEnding(sql: Sql): Promise<readonly unknown[]> {
  return sql`
    select r.id, r.status, array_agg(e.type order by e.seq) as events
      from foundation.runs r
      left join foundation.run_events e on e.home = r.home and e.run_id = r.id
     where r.ended_at is not null
     group by r.home, r.id, r.status
    having count(*) filter (where e.type in ('run.completed', 'run.failed', 'run.cancelled', 'run.suspended',
                                             'run.budget_exceeded')) <> 1
        or (array_agg(e.type order by e.seq desc))[1] is distinct from 'run.' || r.status
        or max(e.seq) <> count(*)`;
}

export async function busyWithoutRun(sql: Sql): Promise<readonly unknown[]> {
  return sql`
    select s.id, s.state, r.status
      from foundation.sessions s
      left join foundation.runs r on r.home = s.home and r.id = s.active_run_id
     where s.state = 'active' and (r.id is null or r.status not in ('queued', 'running'))`;
}

/** BR-55: once a run has started under an epoch, nothing is written under an older one but that its run is over. */
async function underOldEpoch(sql: Sql): Promise<readonly unknown[]> {
  return sql`
    with takeovers as (
      select home, placement_epoch, min(started_at) as at
        from foundation.runs
       where placement_epoch is not null
       group by home, placement_epoch)
    select 'event' as what, e.run_id as id, e.type, r.placement_epoch, t.placement_epoch as taken_over
      from foundation.run_events e
      join foundation.runs r on r.home = e.home and r.id = e.run_id
      join takeovers t on t.home = r.home and t.placement_epoch > r.placement_epoch
     where e.at > t.at and not (e.type = 'run.failed' and e.data ->> 'reason' = 'lease_expired')
    union all
    select 'effect', f.effect_id, f.status, f.placement_epoch, t.placement_epoch
      from foundation.effects f
      join takeovers t on t.home = f.home and t.placement_epoch > f.placement_epoch
     where f.created_at > t.at
    union all
    select 'epoch', r.id, r.status, r.placement_epoch, null
      from foundation.runs r
      join foundation.runs other on other.home = r.home and other.placement_epoch = r.placement_epoch
     where other.holder <> r.holder`;
}

/** F14: a consumed wait has one continuation, which may be repeated after a crash but goes through once. */
async function notOneContinuation(sql: Sql): Promise<readonly unknown[]> {
  return sql`
    select s.id, s.status, count(r.id) as done
      from foundation.suspensions s
      left join foundation.runs r on r.home = s.home and r.resumed_from_run_id = s.run_id
           and r.status in ('completed', 'suspended')
     group by s.home, s.id, s.status
    having (s.status = 'consumed' and count(r.id) <> 1) or (s.status <> 'consumed' and count(r.id) > 0)`;
}

/** How many runs each process has started, by the name of its start. */
export async function shares(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ process: string; runs: number }[]>`
    select h.process, count(*) as runs
      from foundation.runs r
      join public.test_hosts h on h.holder = r.holder
     group by h.process`;
  return Object.fromEntries(rows.map(({ process, runs }) => [process, runs]));
}

/** Runs that a process has started after an instant. */
export async function startedAfter(sql: Sql, process: string, after: Date): Promise<readonly unknown[]> {
  return sql`
    select r.id, r.started_at
      from foundation.runs r
      join public.test_hosts h on h.holder = r.holder
     where h.process = ${process} and r.started_at > ${after}
     order by r.started_at`;
}
