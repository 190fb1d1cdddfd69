/** One attempt at an effect of the world outside: claimed under fence and policy, sent with no transaction open, settled. */
import { appendAudit } from '../audit/index.js';
import type { DispatchingEffectAdapter } from '../ports.js';
import { appendRunEvents, runChannel } from '../run-event/index.js';
import { authorizeEffect } from './authorize-effect.js';
import { type EffectGateway, transact } from './effect-gateway.js';
import type { IdentifiedProposal } from './effect-identity.js';
import { type EffectOutcome, type EffectRecord, type EffectRefusal, effectLimits } from './effect-record.js';
import { settleEffect } from './settle-effect.js';
import { claimEffect } from './store.js';

/** How much longer than a dispatch its claim lasts: time to start it and to write its outcome down. */
const claimSlackMs = 5_000;

export interface Attempt {
  adapter: DispatchingEffectAdapter;
  identified: IdentifiedProposal;
  /** As last seen: `pending`, or in doubt with a target that says it never saw it. */
  effect: EffectRecord;
}

/** `again` when the record has moved or its outcome is in doubt: whoever asked looks at the record anew. */
export async function dispatchEffect(
  gateway: EffectGateway,
  attempt: Attempt,
): Promise<EffectRecord | EffectRefusal | 'again'> {
  const { adapter, identified, effect } = attempt;
  const runId = identified.proposal.run?.runId ?? null;
  const actor = identified.proposal.actor.agent;
  if (effect.attempt >= effectLimits.attempts) {
    const outcome: EffectOutcome = { status: 'failed', reason: 'attempts_exhausted' };
    return (await settleEffect(gateway, { effect, outcome, runId, actor })) ?? 'again';
  }
  const startedAtMs = gateway.clock.monotonicMs();
  const claimed = await claimForDispatch(gateway, attempt);
  if (claimed === 'again' || 'refused' in claimed) return claimed;
  // Held up too long between claim and dispatch: others may think it lapsed before this attempt would end. Let it lapse.
  if (gateway.clock.monotonicMs() - startedAtMs >= claimSlackMs) return 'again';
  const outcome = await dispatchOnce(gateway, adapter, claimed);
  const settled = await settleEffect(gateway, { effect: claimed, outcome, runId, actor });
  return settled === undefined || settled.status === 'unknown' ? 'again' : settled;
}

/** F12: fence and policy hold again at this moment, however long ago the intent was written. */
async function claimForDispatch(
  gateway: EffectGateway,
  { adapter, identified, effect }: Attempt,
): Promise<EffectRecord | EffectRefusal | 'again'> {
  const { proposal } = identified;
  const { actor, run } = proposal;
  const claimed = await transact(gateway, 'effect-claim', async (tx) => {
    const permit = await authorizeEffect(gateway, tx, proposal);
    if (permit.refused) return permit;
    const { hold, decision } = permit;
    const claimMs = adapter.timeoutMs + claimSlackMs;
    const row = await claimEffect(tx, { seen: effect, hold, decision, run, claimMs });
    if (!row) return 'again';
    const details = { attempt: row.attempt, ...(run ? { run_id: run.runId } : {}) };
    const { home, effectId } = row;
    await appendAudit(tx, {
      home,
      actor: actor.agent,
      action: 'effect.dispatch',
      object: effectId,
      outcome: 'claimed',
      details,
    });
    if (run) {
      const data = { effect_id: effectId, proposal_id: row.proposalId, attempt: row.attempt };
      await appendRunEvents(tx, { home, runId: run.runId, events: [{ type: 'effect.dispatching', data }] });
    }
    return row;
  });
  if (run) gateway.wakeups.wake(runChannel(run.runId));
  return claimed;
}

/** Never throws: a fault in the middle of a dispatch says nothing about what the world did, so the outcome is unknown. */
function dispatchOnce(gateway: EffectGateway, adapter: DispatchingEffectAdapter, effect: EffectRecord) {
  return inTime(gateway, { effect, timeoutMs: adapter.timeoutMs }, (signal) => adapter.dispatch(effect, signal));
}

/** Asks the target what became of a dispatch; a target that cannot say leaves it unknown. */
export function askOutcome(gateway: EffectGateway, adapter: DispatchingEffectAdapter, effect: EffectRecord) {
  return inTime(gateway, { effect, timeoutMs: adapter.timeoutMs }, (signal) => adapter.query(effect, signal));
}

async function inTime<Outcome>(
  { clock, log }: EffectGateway,
  { effect, timeoutMs }: { effect: EffectRecord; timeoutMs: number },
  call: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome | { status: 'unknown'; reason: string }> {
  const late = new AbortController();
  const timer = clock.timer(timeoutMs, () => late.abort());
  const timedOut = new Promise<{ status: 'unknown'; reason: string }>((resolve) => {
    late.signal.addEventListener('abort', () => resolve({ status: 'unknown', reason: 'timed_out' }), { once: true });
  });
  try {
    // An adapter that does not heed the signal is not waited for.
    return await Promise.race([call(late.signal), timedOut]);
  } catch (error) {
    log.error({ err: error, effectId: effect.effectId }, 'an effect adapter failed; the outcome is unknown');
    return { status: 'unknown', reason: 'adapter_error' };
  } finally {
    timer.cancel();
  }
}
