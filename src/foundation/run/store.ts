/** Runs. Every transition is guarded by the state that it leaves. */
import type { Sql, Tx } from '../../platform/index.js';
import type { JsonObject, JsonValue } from '../../protocol/index.js';
import type { Fence } from '../ports.js';
import type { EndedRunStatus, RunRecord, RunStatus } from './run.js';

export interface InsertRun {
  home: string;
  id: string;
  tenant: string;
  sessionId: string;
  candidateId: string;
  runtimeId: string;
  runtimeVersion: string;
  inputLogCursor: number;
  resumedFromRunId?: string | null;
  retryOfRunId?: string;
  attempt?: number;
}

export async function insertRun(tx: Tx, run: InsertRun): Promise<void> {
  await tx`
    insert into foundation.runs (
      home, id, tenant, session_id, status, activation_candidate_id, resumed_from_run_id, retry_of_run_id, attempt,
      runtime_id, runtime_version, input_log_cursor)
    values (
      ${run.home}, ${run.id}, ${run.tenant}, ${run.sessionId}, 'queued', ${run.candidateId},
      ${run.resumedFromRunId ?? null}, ${run.retryOfRunId ?? null}, ${run.attempt ?? 1},
      ${run.runtimeId}, ${run.runtimeVersion}, ${run.inputLogCursor})`;
}

export async function selectRun(sql: Sql, home: string, id: string): Promise<RunRecord | undefined> {
  const [row] = await sql<RunRecord[]>`
    select ${runColumns(sql)}
      from foundation.runs
     where home = ${home} and id = ${id}`;
  return row;
}

/** Queued runs of other homes than the given, in the order they were made, a page at a time. */
export async function selectQueuedRuns(
  sql: Sql,
  { after, limit, except }: { after: RunPlace | undefined; limit: number; except: readonly string[] },
): Promise<RunPlace[]> {
  return sql<RunPlace[]>`
    select home, id, session_id
      from foundation.runs
     where status = 'queued' and home <> all(${[...except]}::text[])
       ${after === undefined ? sql`` : sql`and (created_at, id) > (select created_at, id from foundation.runs where home = ${after.home} and id = ${after.id})`}
     order by created_at, id
     limit ${limit}`;
}

export interface RunPlace {
  home: string;
  id: string;
  sessionId: string;
}

export interface StartRun {
  home: string;
  id: string;
  holder: string;
  fence: Fence;
  leaseMs: number;
}

/** queued → running, under a placement. Undefined when another host was faster. */
export async function startRun(tx: Tx, { home, id, holder, fence, leaseMs }: StartRun): Promise<RunRecord | undefined> {
  const [row] = await tx<RunRecord[]>`
    update foundation.runs
       set status = 'running', holder = ${holder}, placement_lease_id = ${fence.placementLeaseId},
           placement_epoch = ${fence.placementEpoch}, started_at = hearth_now(),
           lease_expires_at = hearth_now() + ${leaseMs} * interval '1 millisecond'
     where home = ${home} and id = ${id} and status = 'queued'
    returning ${runColumns(tx)}`;
  return row;
}

export interface EndRun {
  home: string;
  id: string;
  status: EndedRunStatus;
  reason: string | null;
  result?: JsonValue;
}

/** running → ended. The caller has the row locked and knows that it is his. */
export async function endRun(tx: Tx, { home, id, status, reason, result }: EndRun): Promise<void> {
  const rows = await tx`
    update foundation.runs
       set status = ${status}, reason_code = ${reason}, ended_at = hearth_now(),
           result = ${result === undefined ? null : tx.json(result)}
     where home = ${home} and id = ${id} and status = 'running'
    returning id`;
  if (rows.length !== 1) throw new Error(`run ${id} was not running when it was ended`);
}

export async function recordBundle(
  tx: Tx,
  { home, id, digest }: { home: string; id: string; digest: string },
): Promise<void> {
  await tx`
    update foundation.runs
       set bundle_digest = ${digest}
     where home = ${home} and id = ${id} and status = 'running'`;
}

export async function recordModelInput(
  tx: Tx,
  { home, id, record }: { home: string; id: string; record: JsonObject },
): Promise<void> {
  await tx`
    update foundation.runs
       set model_input_record = ${tx.json(record)}
     where home = ${home} and id = ${id} and status = 'running'`;
}

/** Prolongs the leases of runs that are still running under the given fence. Answers which they were. */
export async function extendLeases(
  tx: Tx,
  { fence, runIds, leaseMs }: { fence: Fence; runIds: readonly string[]; leaseMs: number },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    update foundation.runs
       set lease_expires_at = hearth_now() + ${leaseMs} * interval '1 millisecond'
     where home = ${fence.home} and id = any(${[...runIds]}) and status = 'running'
       and placement_lease_id = ${fence.placementLeaseId} and placement_epoch = ${fence.placementEpoch}
    returning id`;
  return rows.map((row) => row.id);
}

export async function selectExpiredRuns(sql: Sql, limit: number): Promise<RunPlace[]> {
  return sql<RunPlace[]>`
    select home, id, session_id
      from foundation.runs
     where status = 'running' and lease_expires_at < hearth_now()
     order by lease_expires_at
     limit ${limit}`;
}

/** Locks a run whose holder has let its lease end; undefined when it was prolonged or has ended meanwhile. */
export async function lockExpiredRun(
  tx: Tx,
  { home, id }: { home: string; id: string },
): Promise<RunRecord | undefined> {
  const [row] = await tx<RunRecord[]>`
    select ${runColumns(tx)}
      from foundation.runs
     where home = ${home} and id = ${id} and status = 'running' and lease_expires_at < hearth_now()
       for update`;
  return row;
}

/** Locks a run that its holder gives back. */
export async function lockHeldRun(
  tx: Tx,
  { home, id, holder }: { home: string; id: string; holder: string },
): Promise<RunRecord | undefined> {
  const [row] = await tx<RunRecord[]>`
    select ${runColumns(tx)}
      from foundation.runs
     where home = ${home} and id = ${id} and status = 'running' and holder = ${holder}
       for update`;
  return row;
}

export interface ListRuns {
  tenant: string;
  /** One home, or every home of the tenant. */
  homes: readonly string[] | 'all';
  status?: RunStatus;
  /** Id of the last run seen; the list goes from the newest to the oldest. */
  after?: { home: string; id: string };
  limit: number;
}

export async function selectRuns(sql: Sql, { tenant, homes, status, after, limit }: ListRuns): Promise<RunRecord[]> {
  return sql<RunRecord[]>`
    select ${runColumns(sql)}
      from foundation.runs
     where tenant = ${tenant}
       ${homes === 'all' ? sql`` : sql`and home = any(${[...homes]})`}
       ${status === undefined ? sql`` : sql`and status = ${status}`}
       ${after === undefined ? sql`` : sql`and (created_at, id) < (select created_at, id from foundation.runs where home = ${after.home} and id = ${after.id})`}
     order by created_at desc, id desc
     limit ${limit}`;
}

function runColumns(sql: Sql) {
  return sql`
    home, id, tenant, session_id, status, activation_candidate_id, resumed_from_run_id, retry_of_run_id, attempt,
    runtime_id, runtime_version, holder, placement_lease_id, placement_epoch, lease_expires_at, bundle_digest,
    model_input_record, input_log_cursor, event_cursor, reason_code, result, created_at, started_at, ended_at`;
}
