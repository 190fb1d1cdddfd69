/**
 * Numbers committed inputs per tenant, so that the log can be read by cursor without losing a row that commits late.
 * Numbering is a commit of its own, before resolving begins: a suspension that commits between the two finds the input in
 * the log, one that commits later is found by the resolver (F14).
 */
import type { Database, Wakeups } from '../../platform/index.js';
import { foundationChannels, type StepOutcome } from '../parts.js';
import { inputLimits } from './agent-input.js';
import { lockLogHead, numberInputs, unsequencedTenants } from './store.js';

export async function sequenceInputs({ db, wakeups }: { db: Database; wakeups: Wakeups }): Promise<StepOutcome> {
  const tenants = await unsequencedTenants(db.sql, inputLimits.sequenceBatch);
  let numbered = 0;
  for (const tenant of tenants) {
    numbered += await db.transact('sequence-inputs', async (tx) => {
      const position = await lockLogHead(tx, tenant);
      return numberInputs(tx, { tenant, position, limit: inputLimits.sequenceBatch });
    });
  }
  if (numbered > 0) wakeups.wake(foundationChannels.inputLog);
  return numbered > 0 ? 'more' : 'idle';
}
