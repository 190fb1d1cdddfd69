/** Suspensions, subscriptions and the checkpoints behind them. */
import type { Sql, Tx } from '../../platform/index.js';
import type { JsonValue } from '../../protocol/index.js';
import type { WhenActive } from '../ports.js';
import { matchingTypes, type SubscriptionRecord, type SuspensionRecord } from './suspension.js';

export interface InsertSuspension {
  home: string;
  id: string;
  tenant: string;
  sessionId: string;
  runId: string;
  reason: string;
  runtimeId: string;
  runtimeVersion: string;
  runtimeStateRef: string;
  inputLogCursor: number;
}

export async function insertSuspension(tx: Tx, suspension: InsertSuspension): Promise<void> {
  await tx`
    insert into foundation.suspensions (
      home, id, tenant, session_id, run_id, reason, runtime_id, runtime_version, runtime_state_ref, input_log_cursor,
      resume_policy, status)
    values (
      ${suspension.home}, ${suspension.id}, ${suspension.tenant}, ${suspension.sessionId}, ${suspension.runId},
      ${suspension.reason}, ${suspension.runtimeId}, ${suspension.runtimeVersion}, ${suspension.runtimeStateRef},
      ${suspension.inputLogCursor}, 'first_match', 'open')`;
}

export interface InsertSubscription {
  home: string;
  id: string;
  tenant: string;
  owner: 'agent' | 'suspension';
  suspensionId?: string;
  sessionId?: string;
  type: string;
  subject?: string;
  whenActive?: WhenActive;
}

export async function insertSubscription(tx: Tx, subscription: InsertSubscription): Promise<void> {
  await tx`
    insert into foundation.subscriptions (
      home, id, tenant, owner, suspension_id, session_id, type, subject, when_active, status)
    values (
      ${subscription.home}, ${subscription.id}, ${subscription.tenant}, ${subscription.owner},
      ${subscription.suspensionId ?? null}, ${subscription.sessionId ?? null}, ${subscription.type},
      ${subscription.subject ?? null}, ${subscription.whenActive ?? null}, 'active')`;
}

/** Active subscriptions that an input matches; those of suspensions first, so that who waits comes before who listens. */
export async function matchSubscriptions(
  sql: Sql,
  { tenant, type, subject, limit }: { tenant: string; type: string; subject: string | undefined; limit: number },
): Promise<SubscriptionRecord[]> {
  return sql<SubscriptionRecord[]>`
    select ${subscriptionColumns(sql)}
      from foundation.subscriptions
     where tenant = ${tenant} and type = any(${matchingTypes(type)}) and status = 'active'
       and (subject is null or subject = ${subject ?? null})
       and (expires_at is null or expires_at > hearth_now())
     order by owner desc, created_at, id
     limit ${limit}`;
}

/** An agent's standing subscriptions that are in force. */
export async function listSubscriptions(sql: Sql, home: string): Promise<SubscriptionRecord[]> {
  return sql<SubscriptionRecord[]>`
    select ${subscriptionColumns(sql)}
      from foundation.subscriptions
     where home = ${home} and owner = 'agent' and status = 'active'
     order by created_at, id
     limit 1000`;
}

/** False when there is no such standing subscription. */
export async function endStandingSubscription(tx: Tx, { home, id }: { home: string; id: string }): Promise<boolean> {
  const rows = await tx`
    update foundation.subscriptions
       set status = 'ended'
     where home = ${home} and id = ${id} and owner = 'agent' and status = 'active'
    returning id`;
  return rows.length === 1;
}

export async function selectSameStanding(
  sql: Sql,
  { home, type, subject }: { home: string; type: string; subject?: string },
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id
      from foundation.subscriptions
     where home = ${home} and owner = 'agent' and status = 'active' and type = ${type}
       and subject is not distinct from ${subject ?? null}::text
     limit 1`;
  return row?.id;
}

export async function countStandingSubscriptions(sql: Sql, home: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)
      from foundation.subscriptions
     where home = ${home} and owner = 'agent' and status = 'active'`;
  return row?.count ?? 0;
}

export async function selectOpenSuspension(
  sql: Sql,
  home: string,
  sessionId: string,
): Promise<SuspensionRecord | undefined> {
  const [row] = await sql<SuspensionRecord[]>`
    select ${suspensionColumns(sql)}
      from foundation.suspensions
     where home = ${home} and session_id = ${sessionId} and status = 'open'`;
  return row;
}

export async function selectSuspension(sql: Sql, home: string, id: string): Promise<SuspensionRecord | undefined> {
  const [row] = await sql<SuspensionRecord[]>`
    select ${suspensionColumns(sql)}
      from foundation.suspensions
     where home = ${home} and id = ${id}`;
  return row;
}

export async function selectSuspensionOfRun(
  sql: Sql,
  home: string,
  runId: string,
): Promise<SuspensionRecord | undefined> {
  const [row] = await sql<SuspensionRecord[]>`
    select ${suspensionColumns(sql)}
      from foundation.suspensions
     where home = ${home} and run_id = ${runId}`;
  return row;
}

/** open → consumed, with the run that goes on. False when another match or a cancel was faster. */
export async function consumeSuspension(
  tx: Tx,
  { home, id, continuationRunId }: { home: string; id: string; continuationRunId: string },
): Promise<boolean> {
  const rows = await tx`
    update foundation.suspensions
       set status = 'consumed', continuation_run_id = ${continuationRunId},
           replayed_at = coalesce(replayed_at, hearth_now())
     where home = ${home} and id = ${id} and status = 'open'
    returning id`;
  if (rows.length === 1) await endSubscriptionsOf(tx, home, id);
  return rows.length === 1;
}

/** open → cancelled. */
export async function cancelSuspension(tx: Tx, { home, id }: { home: string; id: string }): Promise<boolean> {
  const rows = await tx`
    update foundation.suspensions
       set status = 'cancelled', replayed_at = coalesce(replayed_at, hearth_now())
     where home = ${home} and id = ${id} and status = 'open'
    returning id`;
  if (rows.length === 1) await endSubscriptionsOf(tx, home, id);
  return rows.length === 1;
}

async function endSubscriptionsOf(tx: Tx, home: string, suspensionId: string): Promise<void> {
  await tx`
    update foundation.subscriptions
       set status = 'ended'
     where home = ${home} and suspension_id = ${suspensionId} and status = 'active'`;
}

export async function selectUnreplayedSuspensions(sql: Sql, limit: number): Promise<SuspensionRecord[]> {
  return sql<SuspensionRecord[]>`
    select ${suspensionColumns(sql)}
      from foundation.suspensions
     where status = 'open' and replayed_at is null
     order by created_at
     limit ${limit}`;
}

/**
 * The oldest input after a suspension's cursor that it waits for, numbered or decided on by whomever: whatever came before
 * the subscriptions stood. What this session has taken itself is no answer. Types are joined apart from prefixes, so that
 * the log is read by its index on types.
 */
export async function selectFirstMatch(
  sql: Sql,
  suspension: SuspensionRecord,
): Promise<{ home: string; inputId: string } | undefined> {
  const { tenant, inputLogCursor: cursor } = suspension;
  const [row] = await sql<{ home: string; inputId: string }[]>`
    with wanted as (
      select type, subject
        from foundation.subscriptions
       where home = ${suspension.home} and suspension_id = ${suspension.id} and status = 'active'
    ), matches as (
      select l.position, l.home, l.input_id
        from wanted w
        join foundation.input_log l
          on l.tenant = ${tenant} and l.type = w.type and l.position > ${cursor}
             and (w.subject is null or w.subject = l.subject)
       union all
      select l.position, l.home, l.input_id
        from wanted w
        join foundation.input_log l
          on right(w.type, 2) = '.*' and l.tenant = ${tenant} and l.position > ${cursor}
             and starts_with(l.type, left(w.type, -1)) and (w.subject is null or w.subject = l.subject)
    )
    select m.home, m.input_id
      from matches m
      join foundation.inputs i on i.home = m.home and i.id = m.input_id
     where i.kind in ('command', 'event')
       and not exists (
         select 1
           from foundation.candidates c
          where c.home = ${suspension.home} and c.input_id = m.input_id and c.session_id = ${suspension.sessionId}
            and c.status in ('running', 'consumed', 'failed'))
     order by m.position
     limit 1`;
  return row;
}

export async function markReplayed(tx: Tx, { home, id }: { home: string; id: string }): Promise<void> {
  await tx`
    update foundation.suspensions
       set replayed_at = hearth_now()
     where home = ${home} and id = ${id} and status = 'open' and replayed_at is null`;
}

export interface RuntimeState {
  home: string;
  ref: string;
  sessionId: string;
  runtimeId: string;
  runtimeVersion: string;
  state: JsonValue;
}

export async function insertRuntimeState(tx: Tx, state: RuntimeState): Promise<void> {
  await tx`
    insert into foundation.runtime_states (home, ref, session_id, runtime_id, runtime_version, state)
    values (
      ${state.home}, ${state.ref}, ${state.sessionId}, ${state.runtimeId}, ${state.runtimeVersion},
      ${tx.json(state.state)})`;
}

export async function selectRuntimeState(sql: Sql, home: string, ref: string): Promise<RuntimeState | undefined> {
  const [row] = await sql<RuntimeState[]>`
    select home, ref, session_id, runtime_id, runtime_version, state
      from foundation.runtime_states
     where home = ${home} and ref = ${ref}`;
  return row;
}

function suspensionColumns(sql: Sql) {
  return sql`
    home, id, tenant, session_id, run_id, reason, runtime_id, runtime_version, runtime_state_ref, input_log_cursor,
    status, replayed_at, continuation_run_id`;
}

function subscriptionColumns(sql: Sql) {
  return sql`home, id, tenant, owner, suspension_id, session_id, type, subject, when_active, created_at`;
}
