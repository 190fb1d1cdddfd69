/** The effect log. Every change of state is guarded by the state it leaves; undefined means that it has moved meanwhile. */
import type { Sql, Tx } from '../../platform/index.js';
import type { JsonValue } from '../../protocol/index.js';
import type { AuthorizationDecision, HeldFence } from '../ports.js';
import type { IdentifiedProposal } from './effect-identity.js';
import type { EffectOutcome, EffectRecord, EffectStatus } from './effect-record.js';

/** The right to act: a held fence for a run, nothing for a person. */
export type Hold = { kind: 'run'; fence: HeldFence } | { kind: 'person' };

export interface FoundEffect {
  effect: EffectRecord;
  /** For how long one attempt still has it to itself; 0 when the claim has lapsed. */
  claimRemainingMs: number;
}

export async function findEffect(
  sql: Sql,
  key: { home: string; proposalScope: string; proposalId: string },
): Promise<FoundEffect | undefined> {
  const [found] = await sql<(EffectRecord & { claimRemainingMs: number })[]>`
    select ${effectColumns(sql)},
           coalesce(greatest(ceil(extract(epoch from claimed_until - hearth_lease_now()) * 1000), 0), 0)::int
             as claim_remaining_ms
      from foundation.effects
     where home = ${key.home} and proposal_scope = ${key.proposalScope} and proposal_id = ${key.proposalId}`;
  if (!found) return undefined;
  const { claimRemainingMs, ...effect } = found;
  return { effect, claimRemainingMs };
}

export async function readEffect(sql: Sql, home: string, effectId: string): Promise<EffectRecord | undefined> {
  const [found] = await sql<EffectRecord[]>`
    select ${effectColumns(sql)}
      from foundation.effects
     where home = ${home} and effect_id = ${effectId}`;
  return found;
}

export interface InsertEffect {
  ids: { effectId: string; operationId: string };
  identified: IdentifiedProposal;
  decision: AuthorizationDecision;
  hold: Hold;
}

/** Writes the intent, `pending`. Undefined when the proposal has a record already. */
export async function insertEffect(tx: Tx, insert: InsertEffect): Promise<EffectRecord | undefined> {
  const { proposal, digest, idempotencyKey } = insert.identified;
  const fence = insert.hold.kind === 'run' ? insert.hold.fence : undefined;
  const [effect] = await tx<EffectRecord[]>`
    insert into foundation.effects (
      home, effect_id, operation_id, tenant, proposal_scope, proposal_id, proposal_digest, run_id, session_id, actor_id,
      target, action, request, idempotency_key, authorization_decision, placement_lease_id, placement_epoch, status
    ) values (
      ${proposal.actor.home}, ${insert.ids.effectId}, ${insert.ids.operationId}, ${proposal.tenant},
      ${proposal.proposalScope}, ${proposal.proposalId}, ${digest}, ${proposal.run?.runId ?? null},
      ${proposal.run?.sessionId ?? null}, ${proposal.actor.agent}, ${proposal.target}, ${proposal.action},
      ${tx.json(proposal.input)}, ${idempotencyKey}, ${tx.json({ ...insert.decision })},
      ${fence?.placementLeaseId ?? null}, ${fence?.placementEpoch ?? null}, 'pending'
    )
    on conflict (home, proposal_scope, proposal_id) do nothing
    returning ${effectColumns(tx)}`;
  return effect;
}

/** Which of these proposals have a record, by their place. */
export async function knownProposals(
  sql: Sql,
  proposals: readonly { home: string; proposalScope: string; proposalId: string }[],
): Promise<ReadonlySet<number>> {
  const given = proposals.map(({ home, proposalScope, proposalId }, place) => ({
    place,
    home,
    proposal_scope: proposalScope,
    proposal_id: proposalId,
  }));
  const rows = await sql<{ place: number }[]>`
    select g.place
      from jsonb_to_recordset(${sql.json(given)})
           as g (place bigint, home text, proposal_scope text, proposal_id text)
      join foundation.effects e
        on e.home = g.home and e.proposal_scope = g.proposal_scope and e.proposal_id = g.proposal_id`;
  return new Set(rows.map((row) => row.place));
}

/** Writes effects that succeed in the commit that also holds their intent; a proposal that has a record is missing. */
export function insertSucceeded(
  tx: Tx,
  inserts: readonly (InsertEffect & { result: JsonValue })[],
): Promise<EffectRecord[]> {
  const rows = inserts.map(({ ids, identified, decision, hold, result }) => {
    const { proposal, digest, idempotencyKey } = identified;
    const fence = hold.kind === 'run' ? hold.fence : undefined;
    return {
      home: proposal.actor.home,
      effect_id: ids.effectId,
      operation_id: ids.operationId,
      tenant: proposal.tenant,
      proposal_scope: proposal.proposalScope,
      proposal_id: proposal.proposalId,
      proposal_digest: digest,
      run_id: proposal.run?.runId ?? null,
      session_id: proposal.run?.sessionId ?? null,
      actor_id: proposal.actor.agent,
      target: proposal.target,
      action: proposal.action,
      request: proposal.input,
      idempotency_key: idempotencyKey,
      authorization_decision: { ...decision },
      placement_lease_id: fence?.placementLeaseId ?? null,
      placement_epoch: fence?.placementEpoch ?? null,
      result,
    };
  });
  return tx<EffectRecord[]>`
    insert into foundation.effects (
      home, effect_id, operation_id, tenant, proposal_scope, proposal_id, proposal_digest, run_id, session_id, actor_id,
      target, action, request, idempotency_key, authorization_decision, placement_lease_id, placement_epoch, result,
      status, settled_at)
    select home, effect_id, operation_id, tenant, proposal_scope, proposal_id, proposal_digest, run_id, session_id,
           actor_id, target, action, request, idempotency_key, authorization_decision, placement_lease_id,
           placement_epoch, result, 'succeeded', hearth_now()
      from jsonb_to_recordset(${tx.json(rows)})
           as e (home text, effect_id text, operation_id text, tenant text, proposal_scope text, proposal_id text,
                 proposal_digest text, run_id text, session_id text, actor_id text, target text, action text,
                 request jsonb, idempotency_key text, authorization_decision jsonb, placement_lease_id text,
                 placement_epoch bigint, result jsonb)
    on conflict (home, proposal_scope, proposal_id) do nothing
    returning ${effectColumns(tx)}`;
}

export interface ClaimEffect {
  /** As last seen; the claim is made only if it is still so. */
  seen: EffectRecord;
  hold: Hold;
  decision: AuthorizationDecision;
  run: { runId: string; sessionId: string } | undefined;
  claimMs: number;
}

/** Takes the effect for one attempt under the fence that is held now. Whoever makes the attempt owns the record from here. */
export async function claimEffect(tx: Tx, { seen, hold, decision, run, claimMs }: ClaimEffect) {
  const fence = hold.kind === 'run' ? hold.fence : undefined;
  const [effect] = await tx<EffectRecord[]>`
    update foundation.effects
       set status = 'dispatching',
           attempt = attempt + 1,
           claimed_until = hearth_lease_now() + ${claimMs}::bigint * interval '1 millisecond',
           dispatched_at = coalesce(dispatched_at, hearth_now()),
           authorization_decision = ${tx.json({ ...decision })},
           run_id = coalesce(${run?.runId ?? null}, run_id),
           session_id = coalesce(${run?.sessionId ?? null}, session_id),
           placement_lease_id = ${fence?.placementLeaseId ?? null},
           placement_epoch = ${fence?.placementEpoch ?? null},
           reason_code = null
     where home = ${seen.home} and effect_id = ${seen.effectId}
       and status = ${seen.status} and attempt = ${seen.attempt}
       and (status in ('pending', 'unknown') or (status = 'dispatching' and claimed_until <= hearth_lease_now()))
    returning ${effectColumns(tx)}`;
  return effect;
}

// A success is the truth about the key, whichever attempt learns it and whatever was supposed meanwhile. A failure or a
// doubt speaks of one attempt only, and may not hide what another one has done.
const settlesFrom: Record<EffectOutcome['status'], EffectStatus[]> = {
  succeeded: ['pending', 'dispatching', 'unknown'],
  failed: ['pending', 'dispatching', 'unknown'],
  unknown: ['dispatching'],
};

const askAgainMs = 30_000;

export async function settleEffect(tx: Tx, effect: EffectRecord, outcome: EffectOutcome) {
  const { status } = outcome;
  const reason = status === 'succeeded' ? null : outcome.reason;
  const result: JsonValue | undefined = status === 'unknown' ? undefined : outcome.result;
  const [settled] = await tx<EffectRecord[]>`
    update foundation.effects
       set status = ${status},
           reason_code = ${reason},
           result = ${result === undefined ? null : tx.json(result)},
           result_ref = ${(status === 'succeeded' ? outcome.resultRef : undefined) ?? null},
           settled_at = case when ${status} = 'unknown' then null else hearth_now() end,
           claimed_until = case when ${status} = 'unknown' then hearth_lease_now() + ${askAgainMs} * interval '1 millisecond' end
     where home = ${effect.home} and effect_id = ${effect.effectId}
       and status in ${tx(settlesFrom[status])}
       and (${status} = 'succeeded' or attempt = ${effect.attempt})
    returning ${effectColumns(tx)}`;
  return settled;
}

/** Named once, so that every way to a record reads the same one. */
export function effectColumns(sql: Sql) {
  return sql`
    home, effect_id, operation_id, tenant, proposal_scope, proposal_id, proposal_digest, run_id, session_id, actor_id,
    target, action, request, idempotency_key, authorization_decision, placement_lease_id, placement_epoch, status, attempt,
    claimed_until, reason_code, result, result_ref, created_at, dispatched_at, settled_at`;
}
