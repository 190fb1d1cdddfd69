/**
 * Writes down what became of an effect. It needs no fence: a fact stays one whoever learns it. Lock order: run, effect.
 */
import type { Tx } from '../../platform/index.js';
import type { JsonObject, Mint } from '../../protocol/index.js';
import { type AuditEntry, appendAudit } from '../audit/index.js';
import { effectFact, noteFact } from '../fact/index.js';
import { mintFrom } from '../new-id.js';
import { foundationChannels } from '../parts.js';
import { appendRunEvents, holdRunningRun, type NewRunEvent, runChannel } from '../run-event/index.js';
import { type EffectGateway, effectChannel, transact } from './effect-gateway.js';
import { boundResult } from './effect-identity.js';
import type { EffectOutcome, EffectRecord } from './effect-record.js';
import { readEffect, settleEffect as settleRow } from './store.js';

export interface SettleEffect {
  effect: EffectRecord;
  outcome: EffectOutcome;
  /** The run that is to observe it; nothing is told to a run that has ended. */
  runId: string | null;
  actor: string;
}

/** The settled record, or undefined when the record had moved on and this outcome has no place in it. */
export async function settleEffect(gateway: EffectGateway, settle: SettleEffect): Promise<EffectRecord | undefined> {
  const outcome = storable(settle.outcome);
  const wake = new Set<string>();
  const settling = { ...settle, outcome, ids: mintFrom(gateway), wake };
  const settled = await transact(gateway, 'effect-settle', (tx) => settleIn(tx, settling));
  for (const channel of wake) gateway.wakeups.wake(channel);
  gateway.wakeups.wake(effectChannel(settle.effect.effectId));
  if (settle.runId !== null) gateway.wakeups.wake(runChannel(settle.runId));
  return settled;
}

/** The same within a transaction that is open already. */
export async function settleIn(
  tx: Tx,
  settle: SettleEffect & { ids: Mint; wake: Set<string> },
): Promise<EffectRecord | undefined> {
  const { effect, outcome, runId, actor, ids, wake } = settle;
  const { home } = effect;
  const observed = runId !== null && (await holdRunningRun(tx, { home, runId })) ? runId : undefined;
  const settled = await settleRow(tx, effect, outcome);
  if (!settled) {
    await auditUnplaced(tx, settle);
    return undefined;
  }
  await appendAudit(tx, auditOfSettled(settled, actor));
  if (observed !== undefined) await appendRunEvents(tx, { home, runId: observed, events: [settledEvent(settled)] });
  const fact = effectFact(settled);
  if (fact && (await noteFact(tx, { ...fact, ids }))) wake.add(foundationChannels.inputs);
  return settled;
}

export function auditOfSettled(
  { home, effectId, status, attempt, reasonCode }: EffectRecord,
  actor: string,
): AuditEntry {
  const details = { attempt, ...(reasonCode === null ? {} : { reason: reasonCode }) };
  return { home, actor, action: 'effect.settle', object: effectId, outcome: status, details };
}

function storable(outcome: EffectOutcome): EffectOutcome {
  if (outcome.status === 'unknown' || outcome.result === undefined) return outcome;
  return { ...outcome, result: boundResult(outcome.result) };
}

/** The outcome of a settled effect as a run is told of it; an unknown one may still be followed by a settled one (BR-46). */
export function settledEvent(effect: EffectRecord): NewRunEvent {
  const data: JsonObject = {
    effect_id: effect.effectId,
    proposal_id: effect.proposalId,
    action: effect.action,
    status: effect.status,
    attempt: effect.attempt,
    ...(effect.reasonCode === null ? {} : { reason: effect.reasonCode }),
    ...(effect.result === null ? {} : { result: effect.result }),
  };
  return { type: effect.status === 'unknown' ? 'effect.unknown' : 'effect.settled', data };
}

/** An outcome that contradicts the record is kept where people can find it. */
async function auditUnplaced(tx: Tx, { effect, outcome, actor }: SettleEffect): Promise<void> {
  const now = await readEffect(tx, effect.home, effect.effectId);
  if (!now || now.status === outcome.status || outcome.status === 'unknown') return;
  await appendAudit(tx, {
    home: effect.home,
    actor,
    action: 'effect.settle',
    object: effect.effectId,
    outcome: 'late',
    details: { learnt: outcome.status, attempt: effect.attempt, recorded: now.status },
  });
}
