/**
 * An effect inside our own database: what it needs is prepared and signed with no transaction open, then intent, effect,
 * run event and audit are one commit. A crash leaves all of it or nothing.
 */
import type { Tx } from '../../platform/index.js';
import { mintFrom } from '../new-id.js';
import type { PreparedEffect, TransactionalEffectAdapter } from '../ports.js';
import { runChannel } from '../run-event/index.js';
import { authorizeEffect, refuseProposal } from './authorize-effect.js';
import { type EffectGateway, mintEffectIds, patiently, transact } from './effect-gateway.js';
import { boundResult, type IdentifiedProposal } from './effect-identity.js';
import { type EffectRecord, type EffectRefusal, effectLimits } from './effect-record.js';
import { settleIn } from './settle-effect.js';
import { insertEffect } from './store.js';

const policyId = 'foundation.effect';

/** `again` when the proposal has a record by now. */
export async function commitEffect(
  gateway: EffectGateway,
  adapter: TransactionalEffectAdapter,
  identified: IdentifiedProposal,
): Promise<EffectRecord | EffectRefusal | 'again'> {
  const { proposal } = identified;
  for (let prepares = 0; prepares < effectLimits.prepares; prepares += 1) {
    // Asked before anything is signed in the actor's name, and again under the locks of the commit.
    const decision = await patiently(gateway, () => gateway.authority.authorize(gateway.db.sql, proposal));
    if (!decision.allowed) return refuseProposal(gateway, proposal, decision);
    const ids = mintEffectIds(gateway, proposal.actor.home);
    const prepared = await patiently(gateway, () => adapter.prepare(proposal, ids.effectId));
    if ('refused' in prepared) return refuseProposal(gateway, proposal, { reason: prepared.refused, policyId });
    const committed = await commitPrepared(gateway, { identified, ids, prepared });
    if (committed === 'stale') continue;
    if (typeof committed === 'object' && 'notDone' in committed) {
      return refuseProposal(gateway, proposal, { reason: committed.notDone, policyId });
    }
    return committed;
  }
  return refuseProposal(gateway, proposal, { reason: 'contended', policyId });
}

interface Prepared {
  identified: IdentifiedProposal;
  ids: { effectId: string; operationId: string };
  prepared: PreparedEffect;
}

type Undone = 'stale' | { notDone: string };

async function commitPrepared(
  gateway: EffectGateway,
  commit: Prepared,
): Promise<EffectRecord | EffectRefusal | 'again' | Undone> {
  const { run } = commit.identified.proposal;
  try {
    const wake = new Set(commit.prepared.wake);
    const result = await transact(gateway, 'effect-commit', (tx) => commitIn(gateway, tx, { ...commit, wake }));
    for (const channel of wake) gateway.wakeups.wake(channel);
    if (run) gateway.wakeups.wake(runChannel(run.runId));
    return result;
  } catch (error) {
    if (error instanceof RollBack) return error.why;
    throw error;
  }
}

async function commitIn(
  gateway: EffectGateway,
  tx: Tx,
  { identified, ids, prepared, wake }: Prepared & { wake: Set<string> },
): Promise<EffectRecord | EffectRefusal | 'again'> {
  const { proposal } = identified;
  const permit = await authorizeEffect(gateway, tx, proposal);
  if (permit.refused) return permit;
  const effect = await insertEffect(tx, { ids, identified, ...permit });
  if (!effect) return 'again';
  const done = await prepared.commit(tx);
  if (done === 'stale') throw new RollBack('stale');
  if ('refused' in done) throw new RollBack({ notDone: done.refused });
  const settled = await settleIn(tx, {
    effect,
    outcome: { status: 'succeeded', result: boundResult(done.result) },
    runId: proposal.run?.runId ?? null,
    actor: proposal.actor.agent,
    ids: mintFrom(gateway),
    wake,
  });
  return settled ?? 'again';
}

/** Takes back whatever the adapter has written before it saw that it could not go on. */
class RollBack extends Error {
  override readonly name = 'RollBack';
  readonly why: Undone;

  constructor(why: Undone) {
    super('the effect was not committed');
    this.why = why;
  }
}
