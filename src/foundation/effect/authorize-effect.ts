/** The right to make a proposal true, taken inside the transaction that uses it: fence and run held, then policy asked. */
import type { Tx } from '../../platform/index.js';
import { appendAudit } from '../audit/index.js';
import type { AuthorizationDecision } from '../ports.js';
import { appendRunEvents, holdRunningRun, runChannel } from '../run-event/index.js';
import { type EffectGateway, transact } from './effect-gateway.js';
import { quotable } from './effect-identity.js';
import type { ActionProposal, EffectRefusal } from './effect-record.js';
import type { Hold } from './store.js';

export interface Permit {
  refused?: never;
  hold: Hold;
  decision: AuthorizationDecision;
}

/** Locks placement, then run, then asks the Authority. A refusal is already audited when it is answered. */
export async function authorizeEffect(
  gateway: EffectGateway,
  tx: Tx,
  proposal: ActionProposal,
): Promise<Permit | EffectRefusal> {
  const hold = await holdProposer(gateway, tx, proposal);
  if (typeof hold === 'string') return recordRefusal(tx, proposal, { reason: hold, policyId: 'foundation.fence' });
  const decision = await gateway.authority.authorize(tx, proposal);
  if (!decision.allowed) return recordRefusal(tx, proposal, decision);
  return { hold, decision };
}

/** The proposer's right to act at all, without asking what for; a reason when it is gone. */
export async function holdProposer(
  gateway: EffectGateway,
  tx: Tx,
  { run, actor }: ActionProposal,
): Promise<Hold | 'fence_stale' | 'run_over'> {
  if (!run) return { kind: 'person' };
  const fence = await gateway.placements.hold(tx, run.fence);
  if (!fence) return 'fence_stale';
  const running = await holdRunningRun(tx, { home: actor.home, runId: run.runId, fence: run.fence });
  return running ? { kind: 'run', fence } : 'run_over';
}

/** A refusal is an observation of the runtime: audited, and an event of the run as long as it runs. */
export async function recordRefusal(
  tx: Tx,
  proposal: ActionProposal,
  { reason, policyId }: { reason: string; policyId: string },
): Promise<EffectRefusal> {
  const { actor, run } = proposal;
  const [proposalId, action, target] = [
    quotable(proposal.proposalId),
    quotable(proposal.action),
    quotable(proposal.target),
  ];
  if (run && (await holdRunningRun(tx, { home: actor.home, runId: run.runId }))) {
    const data = { proposal_id: proposalId, action, target, reason, policy_id: policyId };
    await appendRunEvents(tx, { home: actor.home, runId: run.runId, events: [{ type: 'effect.refused', data }] });
  }
  await appendAudit(tx, {
    home: actor.home,
    actor: actor.agent,
    action: 'effect.propose',
    object: proposalId,
    outcome: 'refused',
    details: { reason, policy_id: policyId, action, ...(run ? { run_id: run.runId } : {}) },
  });
  return { refused: true, reason, policyId };
}

/** A refusal that needed no look at the database. */
export async function refuseProposal(
  gateway: EffectGateway,
  proposal: ActionProposal,
  refusal: { reason: string; policyId: string },
): Promise<EffectRefusal> {
  const refused = await transact(gateway, 'effect-refuse', (tx) => recordRefusal(tx, proposal, refusal));
  if (proposal.run) gateway.wakeups.wake(runChannel(proposal.run.runId));
  return refused;
}
