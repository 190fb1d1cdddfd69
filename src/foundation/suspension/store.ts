/** Suspensions, subscriptions and the checkpoints behind them. */
import type { Sql, Tx } from '../../platform/index.js';
import type { JsonValue } from '../../protocol/index.js';
import type { InputPriority } from '../input/index.js';
import type { WhenActive } from '../ports.js';
import type { SubscriptionRecord, SuspensionRecord } from './suspension.js';

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
  resumePolicy: SuspensionRecord['resumePolicy'];
  needed: number;
  expiresAt: Date | null;
  dueAt: Date | null;
}

export async function insertSuspension(tx: Tx, suspension: InsertSuspension): Promise<void> {
  await tx`
    insert into foundation.suspensions (
      home, id, tenant, session_id, run_id, reason, runtime_id, runtime_version, runtime_state_ref, input_log_cursor,
      resume_policy, needed, expires_at, due_at, status)
    values (
      ${suspension.home}, ${suspension.id}, ${suspension.tenant}, ${suspension.sessionId}, ${suspension.runId},
      ${suspension.reason}, ${suspension.runtimeId}, ${suspension.runtimeVersion}, ${suspension.runtimeStateRef},
      ${suspension.inputLogCursor}, ${suspension.resumePolicy}, ${suspension.needed}, ${suspension.expiresAt},
      ${suspension.dueAt}, 'open')`;
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
  priority?: InputPriority;
  repeat?: number;
  dedupe?: string;
  expiresAt?: Date | null;
}

export async function insertSubscription(tx: Tx, subscription: InsertSubscription): Promise<void> {
  await tx`
    insert into foundation.subscriptions (
      home, id, tenant, owner, suspension_id, session_id, type, subject, when_active, priority, repeat, dedupe,
      expires_at, status)
    values (
      ${subscription.home}, ${subscription.id}, ${subscription.tenant}, ${subscription.owner},
      ${subscription.suspensionId ?? null}, ${subscription.sessionId ?? null}, ${subscription.type},
      ${subscription.subject ?? null}, ${subscription.whenActive ?? null}, ${subscription.priority ?? 'normal'},
      ${subscription.repeat ?? 1}, ${subscription.dedupe ?? null}, ${subscription.expiresAt ?? null}, 'active')`;
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

export async function endSubscriptionsOf(tx: Tx, home: string, suspensionId: string): Promise<void> {
  await tx`
    update foundation.subscriptions
       set status = 'ended'
     where home = ${home} and suspension_id = ${suspensionId} and status = 'active'`;
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

export function suspensionColumns(sql: Sql) {
  return sql`
    home, id, tenant, session_id, run_id, reason, runtime_id, runtime_version, runtime_state_ref, input_log_cursor,
    resume_policy, needed, expires_at, due_at, expired_by, partly_matched, status, replayed_at, replayed_to,
    replay_faults, continuation_run_id`;
}

export function subscriptionColumns(sql: Sql) {
  return sql`home, id, tenant, owner, suspension_id, session_id, type, subject, when_active, priority, created_at`;
}
