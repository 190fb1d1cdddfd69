/** What a wait has counted, what the log holds for it, and when it is to be looked at by itself. */
import type { Sql, Tx } from '../../platform/index.js';
import type { AwaitedPart } from './resume-policy.js';
import { suspensionColumns } from './store.js';
import type { SuspensionRecord } from './suspension.js';

interface WaitPlace {
  home: string;
  id: string;
}

export async function selectParts(sql: Sql, { home, id }: WaitPlace): Promise<AwaitedPart[]> {
  return sql<AwaitedPart[]>`
    select s.id, s.type, s.subject, s.repeat, s.dedupe, s.expires_at,
           array(select m.dedupe_key
                   from foundation.suspension_matches m
                  where m.home = s.home and m.subscription_id = s.id) as keys
      from foundation.subscriptions s
     where s.home = ${home} and s.suspension_id = ${id}
     order by s.id
     limit 16`;
}

/** The runs and effects that a wait is about by name. */
export async function selectAwaitedSubjects(sql: Sql, { home, id }: WaitPlace): Promise<string[]> {
  const rows = await sql<{ subject: string }[]>`
    select distinct subject
      from foundation.subscriptions
     where home = ${home} and suspension_id = ${id} and status = 'active'
       and (starts_with(subject, 'run:') or starts_with(subject, 'effect:'))
     order by subject
     limit 16`;
  return rows.map(({ subject }) => subject);
}

export interface RecordMatches extends WaitPlace {
  input: { home: string; id: string; position: number };
  counted: readonly { id: string; key: string }[];
  /** Subscriptions that need nothing more. */
  satisfied: readonly string[];
  dueAt: Date | null;
}

/** An input that counts without ending the wait. */
export async function recordMatches(tx: Tx, record: RecordMatches): Promise<void> {
  const { home, id, input, counted, satisfied, dueAt } = record;
  await tx`
    insert into foundation.suspension_matches (
      home, suspension_id, subscription_id, dedupe_key, input_home, input_id, position)
    select ${home}, ${id}, counted.id, counted.key, ${input.home}, ${input.id}, ${input.position}
      from unnest(${counted.map((each) => each.id)}::text[], ${counted.map(({ key }) => key)}::text[])
           as counted (id, key)`;
  const rows = await tx`
    update foundation.suspensions
       set partly_matched = partly_matched + 1, due_at = ${dueAt}
     where home = ${home} and id = ${id} and status = 'open' and expired_by is null
    returning id`;
  if (rows.length !== 1) throw new Error(`suspension ${id} was over when it counted an input`);
  if (satisfied.length === 0) return;
  await tx`
    update foundation.subscriptions
       set status = 'ended'
     where home = ${home} and id = any(${[...satisfied]}) and status = 'active'`;
}

/**
 * Inputs after a place in the log that a suspension waits for, numbered or decided on by whomever: whatever came before the
 * subscriptions stood. What this session has taken itself is no answer. Types are joined apart from prefixes, and subjects
 * apart from none, so that the log is read by its indexes.
 */
export async function selectLogMatches(
  sql: Sql,
  suspension: SuspensionRecord,
  { after, limit }: { after: number; limit: number },
): Promise<{ home: string; inputId: string; position: number }[]> {
  const { home, id, tenant, sessionId } = suspension;
  return sql<{ home: string; inputId: string; position: number }[]>`
    with wanted as (
      select type, subject
        from foundation.subscriptions
       where home = ${home} and suspension_id = ${id} and status = 'active'
    ), matches as (
      select l.position, l.home, l.input_id
        from wanted w
        join foundation.input_log l
          on l.tenant = ${tenant} and l.type = w.type and l.subject = w.subject and l.position > ${after}
       union
      select l.position, l.home, l.input_id
        from wanted w
        join foundation.input_log l
          on w.subject is null and l.tenant = ${tenant} and l.type = w.type and l.position > ${after}
       union
      select l.position, l.home, l.input_id
        from wanted w
        join foundation.input_log l
          on right(w.type, 2) = '.*' and l.tenant = ${tenant} and l.position > ${after}
             and starts_with(l.type, left(w.type, -1)) and (w.subject is null or w.subject = l.subject)
    )
    select m.home, m.input_id, m.position
      from matches m
      join foundation.inputs i on i.home = m.home and i.id = m.input_id
     where i.kind in ('command', 'event') and i.trust_class <> 'historical_evidence'
       and not exists (
         select 1
           from foundation.candidates c
          where c.home = ${home} and c.input_id = m.input_id and c.session_id = ${sessionId}
            and c.status in ('running', 'consumed', 'failed'))
     order by m.position
     limit ${limit}`;
}

export async function selectUnreplayedSuspensions(sql: Sql, limit: number): Promise<SuspensionRecord[]> {
  return sql<SuspensionRecord[]>`
    select ${suspensionColumns(sql)}
      from foundation.suspensions
     where status = 'open' and replayed_at is null and replay_due_at <= hearth_lease_now()
     order by replay_due_at
     limit ${limit}`;
}

export async function markReplayed(tx: Tx, { home, id }: WaitPlace): Promise<void> {
  await tx`
    update foundation.suspensions
       set replayed_at = hearth_now(), replayed_to = null
     where home = ${home} and id = ${id} and status = 'open' and replayed_at is null`;
}

export async function markReplayedTo(tx: Tx, { home, id }: WaitPlace, position: number): Promise<void> {
  await tx`
    update foundation.suspensions
       set replayed_to = ${position}
     where home = ${home} and id = ${id} and status = 'open' and replayed_at is null`;
}

/** Its log is read again, and it expires, no sooner than that. */
export async function postponeSuspension(tx: Tx, { home, id }: WaitPlace, pauseMs: number): Promise<void> {
  await tx`
    update foundation.suspensions
       set replay_faults = replay_faults + 1,
           replay_due_at = hearth_lease_now() + ${pauseMs} * interval '1 millisecond',
           due_at = greatest(due_at, hearth_now() + ${pauseMs} * interval '1 millisecond')
     where home = ${home} and id = ${id} and status = 'open' and expired_by is null`;
}

/** Open waits whose time is over by the database's clock. */
export async function selectDueSuspensions(sql: Sql, limit: number): Promise<SuspensionRecord[]> {
  return sql<SuspensionRecord[]>`
    select ${suspensionColumns(sql)}
      from foundation.suspensions
     where status = 'open' and expired_by is null and due_at <= hearth_now()
     order by due_at
     limit ${limit}`;
}

/** False when a match, a cancel or another process was faster, or its time is not over any more. */
export async function expireSuspension(tx: Tx, { home, id }: WaitPlace, inputId: string): Promise<boolean> {
  const rows = await tx`
    update foundation.suspensions
       set expired_by = ${inputId}, replayed_at = coalesce(replayed_at, hearth_now())
     where home = ${home} and id = ${id} and status = 'open' and expired_by is null and due_at <= hearth_now()
    returning id`;
  return rows.length === 1;
}
