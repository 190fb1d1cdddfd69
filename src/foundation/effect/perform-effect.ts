/**
 * Journey 3: from an ActionProposal to what became of it. Each round reads the record and takes the one step that its state
 * allows; each step is its own guarded transaction, so a crash between any two of them is found again by the next proposal
 * of the same id, in this run or in the one that replaces it.
 *
 * Crash before the intent: nothing happened. Between intent and claim: `pending`, adopted. Between claim and settle, on
 * either side of the dispatch: the claim lapses, the target is asked by idempotency key, then it is settled or sent again.
 * After the settle: found.
 */
import { appendAudit } from '../audit/index.js';
import type { DispatchingEffectAdapter } from '../ports.js';
import { appendRunEvents, runChannel } from '../run-event/index.js';
import { authorizeEffect, holdProposer, recordRefusal, refuseProposal } from './authorize-effect.js';
import { commitEffect } from './commit-effect.js';
import { askOutcome, dispatchEffect } from './dispatch-effect.js';
import { type EffectGateway, effectChannel, mintEffectIds, patiently, transact } from './effect-gateway.js';
import { type IdentifiedProposal, identifyProposal } from './effect-identity.js';
import type { ActionProposal, EffectRecord, EffectRefusal, EffectResult } from './effect-record.js';
import { settleEffect } from './settle-effect.js';
import { type FoundEffect, findEffect, insertEffect } from './store.js';

// Enough to wait out several foreign claims; what is still open then is answered as it is.
const rounds = 64;
const waitMs = 2_000;
const askPausesMs = [0, 250, 1_000, 3_000];

export async function performEffect(gateway: EffectGateway, proposal: ActionProposal): Promise<EffectResult> {
  const identification = identifyProposal(proposal);
  if (!identification.ok) return refuse(gateway, proposal, identification.reason);
  const { identified } = identification;
  const shared = await gateway.commits?.join(identified);
  if (shared) return shared;
  for (let round = 0; round < rounds; round += 1) {
    const found = await find(gateway, proposal);
    const result = await takeStep(gateway, identified, found);
    if (result !== 'again') return result;
  }
  const found = await find(gateway, proposal);
  return found?.effect ?? refuse(gateway, proposal, 'contended');
}

type Step = Promise<EffectResult | 'again'>;

async function takeStep(gateway: EffectGateway, identified: IdentifiedProposal, found: FoundEffect | undefined): Step {
  const { proposal } = identified;
  const effect = found?.effect;
  if (effect && effect.proposalDigest !== identified.digest) return refuse(gateway, proposal, 'proposal_reused');
  if (effect && (effect.status === 'succeeded' || effect.status === 'failed')) {
    return observeEffect(gateway, proposal, effect);
  }
  const adapter = gateway.adapters.forAction(proposal.action);
  if (!adapter) return refuse(gateway, proposal, 'action_unknown');
  const shape = adapter.check(proposal);
  if (!shape.ok) return refuse(gateway, proposal, shape.reason);
  if (adapter.kind === 'transactional') return commitEffect(gateway, adapter, identified);
  if (!found || !effect) return recordIntent(gateway, identified);
  if (effect.status === 'pending') return dispatchEffect(gateway, { adapter, identified, effect });
  if (effect.status === 'dispatching' && found.claimRemainingMs > 0) return awaitClaim(gateway, found);
  return resolveDoubt(gateway, { adapter, identified, effect });
}

/** F12: the intent is committed before anything is sent. */
async function recordIntent(gateway: EffectGateway, identified: IdentifiedProposal): Promise<EffectRefusal | 'again'> {
  const { proposal } = identified;
  const { actor, run, action, target } = proposal;
  const ids = mintEffectIds(gateway, actor.home);
  const recorded = await transact(gateway, 'effect-intent', async (tx) => {
    const permit = await authorizeEffect(gateway, tx, proposal);
    if (permit.refused) return permit;
    const effect = await insertEffect(tx, { ids, identified, ...permit });
    if (!effect) return 'again';
    const { home, effectId, operationId, proposalId } = effect;
    const details = {
      action,
      policy_id: permit.decision.policyId,
      proposal_id: proposalId,
      ...(run ? { run_id: run.runId } : {}),
      ...(proposal.labels ? { labels: [...proposal.labels] } : {}),
    };
    await appendAudit(tx, {
      home,
      actor: actor.agent,
      action: 'effect.propose',
      object: effectId,
      outcome: 'pending',
      details,
    });
    if (run) {
      const data = { effect_id: effectId, operation_id: operationId, proposal_id: proposalId, action, target };
      await appendRunEvents(tx, { home, runId: run.runId, events: [{ type: 'effect.pending', data }] });
    }
    return 'again';
  });
  wakeRun(gateway, proposal);
  return recorded;
}

/** Another attempt has it: its end is awaited, or the end of its claim. */
async function awaitClaim(gateway: EffectGateway, { effect, claimRemainingMs }: FoundEffect): Promise<'again'> {
  await gateway.wakeups.wait(effectChannel(effect.effectId), Math.min(claimRemainingMs, waitMs));
  return 'again';
}

interface Doubt {
  adapter: DispatchingEffectAdapter;
  identified: IdentifiedProposal;
  effect: EffectRecord;
}

/** BR-46: an attempt whose outcome is not known is asked about, never just repeated; who cannot be asked stays unknown. */
async function resolveDoubt(gateway: EffectGateway, { adapter, identified, effect }: Doubt): Step {
  const runId = identified.proposal.run?.runId ?? null;
  const actor = identified.proposal.actor.agent;
  for (const pauseMs of askPausesMs) {
    if (pauseMs > 0) await gateway.clock.sleep(pauseMs);
    const outcome = await askOutcome(gateway, adapter, effect);
    if (outcome.status === 'not_found') return dispatchEffect(gateway, { adapter, identified, effect });
    if (outcome.status !== 'unknown') {
      return (await settleEffect(gateway, { effect, outcome, runId, actor })) ?? 'again';
    }
  }
  if (effect.status === 'unknown') return observeEffect(gateway, identified.proposal, effect);
  const outcome = { status: 'unknown', reason: 'target_cannot_say' } as const;
  return (await settleEffect(gateway, { effect, outcome, runId, actor })) ?? 'again';
}

/** A proposal made again finds the first; another run than the first one's is told so in its own events. */
async function observeEffect(gateway: EffectGateway, proposal: ActionProposal, effect: EffectRecord) {
  const { run } = proposal;
  const observed = await transact(gateway, 'effect-observe', async (tx) => {
    const hold = await holdProposer(gateway, tx, proposal);
    if (typeof hold === 'string') return recordRefusal(tx, proposal, { reason: hold, policyId: 'foundation.fence' });
    if (run && run.runId !== effect.runId) {
      const { effectId, proposalId, action, status } = effect;
      const data = { effect_id: effectId, proposal_id: proposalId, action, status, first_run_id: effect.runId };
      await appendRunEvents(tx, { home: effect.home, runId: run.runId, events: [{ type: 'effect.observed', data }] });
    }
    return effect;
  });
  wakeRun(gateway, proposal);
  return observed;
}

function find(gateway: EffectGateway, { actor, proposalScope, proposalId }: ActionProposal) {
  return patiently(gateway, () => findEffect(gateway.db.sql, { home: actor.home, proposalScope, proposalId }));
}

function refuse(gateway: EffectGateway, proposal: ActionProposal, reason: string): Promise<EffectRefusal> {
  return refuseProposal(gateway, proposal, { reason, policyId: 'foundation.effect' });
}

function wakeRun(gateway: EffectGateway, { run }: ActionProposal): void {
  if (run) gateway.wakeups.wake(runChannel(run.runId));
}
