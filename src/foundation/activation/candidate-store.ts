/** Candidates: one row per way an input reached an agent, with the decision; the queued ones of a session are its lane. */
import type { Sql, Tx } from '../../platform/index.js';
import { recordOfAttention, type WeighedAttention } from '../attention/index.js';
import type { ActivationDecision, Decision } from './decide-activation.js';

export type CandidateStatus = 'settled' | 'queued' | 'running' | 'consumed' | 'failed';

export interface CandidateRecord {
  home: string;
  id: string;
  tenant: string;
  position: number;
  inputHome: string;
  inputId: string;
  route: string;
  sessionId: string | null;
  decision: Decision;
  policyId: string;
  reason: string;
  status: CandidateStatus;
  runId: string | null;
  attempt: number;
  /** How many others its run takes along. */
  mergedCount: number;
  decidedAt: Date;
}

export interface InsertCandidate {
  home: string;
  id: string;
  input: { home: string; id: string; tenant: string; position: number };
  route: string;
  sessionId?: string | undefined;
  decided: ActivationDecision;
  status: CandidateStatus;
  runId?: string | undefined;
  /** For what is queued. */
  lane?: LanePlace | undefined;
  /** What attention made of it, where it was asked. */
  attention?: WeighedAttention | undefined;
}

export interface LanePlace {
  rank: number;
  merge?: { key: string; windowMs: number };
}

/** False when this way of this input has been decided already. */
export async function insertCandidate(tx: Tx, candidate: InsertCandidate): Promise<boolean> {
  return (await insertCandidates(tx, [candidate])) === 1;
}

/** How many of them are new: their ways have not been decided on before. */
export async function insertCandidates(tx: Tx, candidates: readonly InsertCandidate[]): Promise<number> {
  const given = candidates.map(({ input, decided, lane, attention, ...candidate }) => ({
    home: candidate.home,
    id: candidate.id,
    tenant: input.tenant,
    position: input.position,
    input_home: input.home,
    input_id: input.id,
    route: candidate.route,
    session_id: candidate.sessionId ?? null,
    decision: decided.decision,
    policy_id: decided.policyId,
    reason: decided.reason,
    status: candidate.status,
    run_id: candidate.runId ?? null,
    lane_rank: lane?.rank ?? 0,
    merge_key: lane?.merge?.key ?? null,
    merge_window_ms: lane?.merge?.windowMs ?? null,
    attention: attention === undefined ? null : recordOfAttention(attention),
  }));
  const rows = await tx`
    insert into foundation.candidates (
      home, id, tenant, position, input_home, input_id, route, session_id, decision, policy_id, reason, status, run_id,
      lane_rank, merge_key, not_before, attention)
    select home, id, tenant, position, input_home, input_id, route, session_id, decision, policy_id, reason, status, run_id,
           lane_rank, merge_key, hearth_now() + merge_window_ms * interval '1 millisecond', attention
      from jsonb_to_recordset(${tx.json(given)})
           as c (home text, id text, tenant text, position bigint, input_home text, input_id text, route text,
                 session_id text, decision text, policy_id text, reason text, status text, run_id text,
                 lane_rank smallint, merge_key text, merge_window_ms integer, attention jsonb)
    on conflict on constraint candidates_route_unique do nothing
    returning id`;
  return rows.length;
}

/** Whether an input has reached a session already, by whatever way. Asked with the session locked. */
export async function hasReachedSession(
  sql: Sql,
  { home, inputId, sessionId }: { home: string; inputId: string; sessionId: string },
): Promise<boolean> {
  const rows = await sql`
    select id
      from foundation.candidates
     where home = ${home} and input_id = ${inputId} and session_id = ${sessionId} and decision <> 'IGNORE'
     limit 1`;
  return rows.length > 0;
}

export function selectCandidates(sql: Sql, named: readonly { home: string; id: string }[]): Promise<CandidateRecord[]> {
  return sql<CandidateRecord[]>`
    select ${candidateColumns(sql)}
      from foundation.candidates
     where (home, id) in (select home, id
                            from unnest(${named.map(({ home }) => home)}::text[],
                                        ${named.map(({ id }) => id)}::text[]) as n (home, id))`;
}

/** Whether an input has reached anybody at all. */
export async function hasCandidate(sql: Sql, inputId: string): Promise<boolean> {
  const rows = await sql`
    select 1
      from foundation.candidates
     where input_id = ${inputId}
     limit 1`;
  return rows.length > 0;
}

export function selectCandidatesOf(
  sql: Sql,
  { inputId, after = '', limit }: { inputId: string; after?: string | undefined; limit: number },
): Promise<CandidateRecord[]> {
  return sql<CandidateRecord[]>`
    select ${candidateColumns(sql)}
      from foundation.candidates
     where input_id = ${inputId} and id > ${after}
     order by id
     limit ${limit}`;
}

/** queued → running, or running under another run with all that it takes along. */
export async function beginCandidate(
  tx: Tx,
  { home, id, runId, attempt }: { home: string; id: string; runId: string; attempt: number },
): Promise<void> {
  const rows = await tx`
    update foundation.candidates
       set status = 'running', run_id = ${runId}, attempt = ${attempt}
     where home = ${home} and (id = ${id} or merged_into = ${id}) and status in ('queued', 'running')
    returning id`;
  if (rows.length === 0) throw new Error(`candidate ${id} is neither queued nor running`);
}

/** running → consumed or failed, with its run and all that this takes along. */
export async function endCandidate(
  tx: Tx,
  { home, id, status }: { home: string; id: string; status: 'consumed' | 'failed' },
): Promise<void> {
  await tx`
    update foundation.candidates
       set status = ${status}
     where home = ${home} and (id = ${id} or merged_into = ${id}) and status = 'running'`;
}

/** The same for several. */
export async function endCandidates(
  tx: Tx,
  ends: readonly { home: string; id: string; status: 'consumed' | 'failed' }[],
): Promise<void> {
  const given = ends.map(({ home, id, status }) => ({ home, id, status }));
  await tx`
    update foundation.candidates c
       set status = g.status
      from jsonb_to_recordset(${tx.json(given)}) as g (home text, id text, status text)
     where c.home = g.home and (c.id = g.id or c.merged_into = g.id) and c.status = 'running'`;
}

/** Which of several sessions have something in their lane. */
export async function selectBusyLanes(
  sql: Sql,
  sessions: readonly { home: string; id: string }[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ sessionId: string }[]>`
    select n.id as session_id
      from unnest(${sessions.map(({ home }) => home)}::text[],
                  ${sessions.map(({ id }) => id)}::text[]) as n (home, id)
     where exists (select from foundation.candidates c
                    where c.home = n.home and c.session_id = n.id and c.status = 'queued')`;
  return new Set(rows.map(({ sessionId }) => sessionId));
}

/** What a run was to be told and never was goes into the lane instead. */
export async function enqueueUndelivered(
  tx: Tx,
  { home, ids }: { home: string; ids: readonly string[] },
): Promise<void> {
  await tx`
    update foundation.candidates
       set status = 'queued', run_id = null, reason = 'run_ended_before_steer'
     where home = ${home} and id = any(${[...ids]}) and status in ('running', 'consumed')`;
}

/** A wait answered by an input that already stands in the lane takes it out of there. */
export async function consumeQueued(
  tx: Tx,
  { home, inputId, sessionId, runId }: { home: string; inputId: string; sessionId: string; runId: string },
): Promise<void> {
  await tx`
    update foundation.candidates
       set status = 'consumed', run_id = ${runId}, reason = 'taken_by_suspension'
     where home = ${home} and input_id = ${inputId} and session_id = ${sessionId} and status = 'queued'`;
}

/** What a wait has counted so far goes with its continuation, as what is taken along by the candidate that resumes it. */
export async function takeMatched(
  tx: Tx,
  taken: { home: string; suspensionId: string; sessionId: string; seedId: string; runId: string },
): Promise<void> {
  const { home, suspensionId, sessionId, seedId, runId } = taken;
  const counted = tx`
    select input_id
      from foundation.suspension_matches
     where home = ${home} and suspension_id = ${suspensionId}`;
  const rows = await tx`
    update foundation.candidates
       set status = 'running', run_id = ${runId}, attempt = 1, merged_into = ${seedId}
     where home = ${home} and route = ${`suspension:${suspensionId}`} and input_id in (${counted}) and status = 'settled'
    returning id`;
  await tx`
    update foundation.candidates
       set merged_count = ${rows.length}
     where home = ${home} and id = ${seedId}`;
  await tx`
    update foundation.candidates
       set status = 'consumed', run_id = ${runId}, reason = 'taken_by_suspension'
     where home = ${home} and session_id = ${sessionId} and input_id in (${counted}) and status = 'queued'`;
}

function candidateColumns(sql: Sql) {
  return sql`
    home, id, tenant, position, input_home, input_id, route, session_id, decision, policy_id, reason, status, run_id,
    attempt, merged_count, decided_at`;
}

/** Which input each of these candidates came from, by the candidate's id. */
export async function selectInputIds(
  sql: Sql,
  candidates: readonly { home: string; id: string }[],
): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; inputId: string }[]>`
    select id, input_id
      from foundation.candidates
     where (home, id) in (select home, id
                            from unnest(${candidates.map(({ home }) => home)}::text[],
                                        ${candidates.map(({ id }) => id)}::text[]) as named (home, id))`;
  return new Map(rows.map(({ id, inputId }) => [id, inputId]));
}
