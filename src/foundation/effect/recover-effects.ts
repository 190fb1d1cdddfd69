/** Effects whose run is over: asked about, settled, given back to whoever proposes them again, or ended with their runs. */
import { appendAudit } from '../audit/index.js';
import { askOutcome } from './dispatch-effect.js';
import { type EffectGateway, effectChannel, transact } from './effect-gateway.js';
import type { EffectOutcome } from './effect-record.js';
import {
  listAbandonedEffects,
  listEffectsToAsk,
  type OpenEffect,
  postponeAsking,
  releaseEffect,
} from './recovery-store.js';
import { settleEffect } from './settle-effect.js';

const batch = 20;
const nobodyToAsk: EffectOutcome = { status: 'unknown', reason: 'action_unknown' };
const actor = 'system:recover-effects';

/** One bounded sweep; `more` when a batch was full. Several processes may sweep at once: every step is guarded. */
export async function recoverEffects(gateway: EffectGateway): Promise<'more' | 'idle'> {
  const open = await listEffectsToAsk(gateway.db.sql, batch);
  await Promise.all(open.map((effect) => recoverEffect(gateway, effect)));
  const abandoned = await listAbandonedEffects(gateway.db.sql, batch);
  for (const effect of abandoned) {
    const reason = effect.sessionId === null ? 'abandoned' : 'run_ended';
    await settleEffect(gateway, { effect, outcome: { status: 'failed', reason }, runId: null, actor });
  }
  return open.length === batch || abandoned.length === batch ? 'more' : 'idle';
}

async function recoverEffect(gateway: EffectGateway, effect: OpenEffect): Promise<void> {
  const adapter = gateway.adapters.forAction(effect.action);
  // A transactional effect is never seen in these states, and one without adapter can be asked by nobody.
  const outcome = adapter?.kind === 'dispatching' ? await askOutcome(gateway, adapter, effect) : nobodyToAsk;
  if (outcome.status === 'not_found') {
    if (effect.runLives) return postpone(gateway, effect);
    return release(gateway, effect);
  }
  if (outcome.status === 'unknown' && effect.status === 'unknown') return postpone(gateway, effect);
  await settleEffect(gateway, { effect, outcome, runId: effect.runLives ? effect.runId : null, actor });
}

async function release(gateway: EffectGateway, effect: OpenEffect): Promise<void> {
  const { home, effectId, attempt } = effect;
  await transact(gateway, 'effect-release', async (tx) => {
    if (!(await releaseEffect(tx, effect))) return;
    const details = { attempt, from: effect.status };
    await appendAudit(tx, { home, actor, action: 'effect.release', object: effectId, outcome: 'pending', details });
  });
  gateway.wakeups.wake(effectChannel(effectId));
}

async function postpone(gateway: EffectGateway, effect: OpenEffect): Promise<void> {
  await transact(gateway, 'effect-postpone', (tx) => postponeAsking(tx, effect));
}
