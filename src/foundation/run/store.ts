/** Runs. Every transition is guarded by the state that it leaves. */
import type { Sql, Tx } from '../../platform/index.js';
import type { JsonObject, JsonValue } from '../../protocol/index.js';
import type { Fence } from '../ports.js';
import type { EndedRunStatus, RunRecord, StartedRun } from './run.js';

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

export async function insertRuns(tx: Tx, runs: readonly InsertRun[]): Promise<void> {
  const rows = runs.map((run) => ({
    home: run.home,
    id: run.id,
    tenant: run.tenant,
    session_id: run.sessionId,
    activation_candidate_id: run.candidateId,
    resumed_from_run_id: run.resumedFromRunId ?? null,
    retry_of_run_id: run.retryOfRunId ?? null,
    attempt: run.attempt ?? 1,
    runtime_id: run.runtimeId,
    runtime_version: run.runtimeVersion,
    input_log_cursor: run.inputLogCursor,
  }));
  await tx`
    insert into foundation.runs (
      home, id, tenant, session_id, status, activation_candidate_id, resumed_from_run_id, retry_of_run_id, attempt,
      runtime_id, runtime_version, input_log_cursor)
    select home, id, tenant, session_id, 'queued', activation_candidate_id, resumed_from_run_id, retry_of_run_id, attempt,
           runtime_id, runtime_version, input_log_cursor
      from jsonb_to_recordset(${tx.json(rows)})
           as r (home text, id text, tenant text, session_id text, activation_candidate_id text, resumed_from_run_id text,
                 retry_of_run_id text, attempt integer, runtime_id text, runtime_version text, input_log_cursor bigint)`;
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
): Promise<QueuedRun[]> {
  return sql<QueuedRun[]>`
    select ${runColumns(sql)},
           least(extract(epoch from hearth_now() - created_at) * 1000, ${86_400_000}::integer)::integer as waited_ms
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

/** By the database's clock. */
export interface QueuedRun extends RunRecord {
  waitedMs: number;
}

export interface StartRun {
  home: string;
  id: string;
  fence: Fence;
  /** What it works on, when that could be gathered. */
  bundleDigest: string | null;
  /** How many events the caller writes with its start, up to the cursor that is answered. */
  events: number;
}

/** queued → running, each under its agent's placement; those that another host was faster with are missing. */
export async function startQueuedRuns(
  tx: Tx,
  { holder, leaseMs, starts }: { holder: string; leaseMs: number; starts: readonly StartRun[] },
): Promise<StartedRun[]> {
  const given = starts.map(({ home, id, fence, bundleDigest, events }) => ({
    home,
    id,
    lease: fence.placementLeaseId,
    epoch: fence.placementEpoch,
    digest: bundleDigest,
    events,
  }));
  return tx<StartedRun[]>`
    update foundation.runs as started
       set status = 'running', holder = ${holder}, placement_lease_id = g.lease, placement_epoch = g.epoch,
           bundle_digest = g.digest, event_cursor = event_cursor + g.events, started_at = hearth_now(),
           lease_expires_at = hearth_lease_now() + ${leaseMs} * interval '1 millisecond'
      from jsonb_to_recordset(${tx.json(given)}) 
             as g (home text, id text, lease text, epoch bigint, digest text, events integer)
     where started.home = g.home and started.id = g.id and started.status = 'queued'
    returning ${columnsOf(tx, 'started')}, started.control_cursor`;
}

export interface EndRun {
  home: string;
  id: string;
  status: EndedRunStatus;
  reason: string | null;
  result?: JsonValue;
  from?: 'queued' | 'running';
}

/** running → ended, or queued → ended. The caller has the row locked and knows that it is his. */
export async function endRun(tx: Tx, end: EndRun): Promise<void> {
  const { home, id, status, reason, result, from = 'running' } = end;
  const rows = await tx`
    update foundation.runs
       set status = ${status}, reason_code = ${reason}, ended_at = hearth_now(),
           result = ${result === undefined ? null : tx.json(result)}
     where home = ${home} and id = ${id} and status = ${from}
    returning id`;
  if (rows.length !== 1) throw new Error(`run ${id} was not ${from} when it was ended`);
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

/**
 * Prolongs the leases of those of these runs that are still running under their fences, and answers them. One that somebody
 * has locked is answered as not `extended`: it is to be tried again, and holds up no other.
 */
export async function extendLeases(
  tx: Tx,
  { runs, leaseMs }: { runs: readonly { runId: string; fence: Fence }[]; leaseMs: number },
): Promise<{ id: string; extended: boolean }[]> {
  if (runs.length === 0) return [];
  const given = runs.map(({ runId, fence: { home, placementLeaseId, placementEpoch } }) => ({
    home,
    id: runId,
    lease: placementLeaseId,
    epoch: placementEpoch,
  }));
  const mine = tx`
    foundation.runs r
      join jsonb_to_recordset(${tx.json(given)}) as g (home text, id text, lease text, epoch bigint)
        on r.home = g.home and r.id = g.id and r.status = 'running' and r.placement_lease_id = g.lease
           and r.placement_epoch = g.epoch`;
  return tx<{ id: string; extended: boolean }[]>`
    with unlocked as (
      select r.home, r.id
        from ${mine}
         for no key update of r skip locked
    ), extended as (
      update foundation.runs e
         set lease_expires_at = hearth_lease_now() + ${leaseMs} * interval '1 millisecond'
        from unlocked u
       where e.home = u.home and e.id = u.id
      returning e.id
    )
    select r.id, e.id is not null as extended
      from ${mine}
      left join extended e on e.id = r.id`;
}

export async function selectExpiredRuns(sql: Sql, limit: number): Promise<RunPlace[]> {
  return sql<RunPlace[]>`
    select home, id, session_id
      from foundation.runs
     where status = 'running' and lease_expires_at < hearth_lease_now()
       and (reap_after is null or reap_after <= hearth_lease_now())
     order by lease_expires_at
     limit ${limit}`;
}

/** Twice as long each time. Answers how often it has failed by now. */
export async function postponeReaping(
  tx: Tx,
  { home, id, pauseMs, longestPauseMs }: RunPlace & { pauseMs: number; longestPauseMs: number },
): Promise<number> {
  const [row] = await tx<{ reapFaults: number }[]>`
    update foundation.runs
       set reap_faults = reap_faults + 1,
           reap_after = hearth_lease_now()
             + least(${longestPauseMs}::bigint, ${pauseMs}::bigint << least(reap_faults, 16)) * interval '1 millisecond'
     where home = ${home} and id = ${id}
    returning reap_faults`;
  return row?.reapFaults ?? 0;
}

/** Locks a run whose holder has let its lease end; undefined when it was prolonged or has ended meanwhile. */
export async function lockExpiredRun(
  tx: Tx,
  { home, id }: { home: string; id: string },
): Promise<RunRecord | undefined> {
  const [row] = await tx<RunRecord[]>`
    select ${runColumns(tx)}
      from foundation.runs
     where home = ${home} and id = ${id} and status = 'running' and lease_expires_at < hearth_lease_now()
       for update`;
  return row;
}

/** Locks a run that nobody has begun; undefined when somebody has, or it is over. */
export async function lockQueuedRun(
  tx: Tx,
  { home, id }: { home: string; id: string },
): Promise<RunRecord | undefined> {
  const [row] = await tx<RunRecord[]>`
    select ${runColumns(tx)}
      from foundation.runs
     where home = ${home} and id = ${id} and status = 'queued'
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

/** Ends of several runs at once, each locked and known to be the caller's, who writes one event for each. */
export async function endRuns(tx: Tx, ends: readonly EndRun[]): Promise<void> {
  const given = ends.map(({ home, id, status, reason, result }) => ({
    home,
    id,
    status,
    reason,
    result: result ?? null,
  }));
  const rows = await tx`
    update foundation.runs r
       set status = g.status, reason_code = g.reason, ended_at = hearth_now(), result = nullif(g.result, 'null'::jsonb),
           event_cursor = r.event_cursor + 1
      from jsonb_to_recordset(${tx.json(given)}) as g (home text, id text, status text, reason text, result jsonb)
     where r.home = g.home and r.id = g.id and r.status = 'running'
    returning 1`;
  if (rows.length !== ends.length) throw new Error('a run was not running when it was ended');
}

function runColumns(sql: Sql) {
  return columnsOf(sql, 'runs');
}

function columnsOf(sql: Sql, table: 'runs' | 'started') {
  const r = sql(table);
  return sql`
    ${r}.home, ${r}.id, ${r}.tenant, ${r}.session_id, ${r}.status, ${r}.activation_candidate_id, ${r}.resumed_from_run_id,
    ${r}.retry_of_run_id, ${r}.attempt, ${r}.runtime_id, ${r}.runtime_version, ${r}.holder, ${r}.placement_lease_id,
    ${r}.placement_epoch, ${r}.lease_expires_at, ${r}.bundle_digest, ${r}.model_input_record, ${r}.input_log_cursor,
    ${r}.event_cursor, ${r}.reason_code, ${r}.result, ${r}.created_at, ${r}.started_at, ${r}.ended_at`;
}
