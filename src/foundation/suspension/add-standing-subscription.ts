/** Lets every input of a type concern an agent, until it is ended. */
import type { Tx } from '../../platform/index.js';
import { type Mint, Problem } from '../../protocol/index.js';
import type { InputPriority } from '../input/index.js';
import { newId } from '../new-id.js';
import type { WhenActive } from '../ports.js';
import { countStandingSubscriptions, insertSubscription, selectSameStanding } from './store.js';
import { checkSubscription, suspensionLimits } from './suspension.js';
import { holdTelling } from './telling-store.js';

export interface AddStandingSubscription {
  home: string;
  tenant: string;
  type: string;
  subject?: string;
  whenActive?: WhenActive;
  /** How much the agent cares. Default: normal. */
  priority?: InputPriority;
  ids: Mint;
}

/** Answers its id; the same subscription twice is one. */
export async function addStandingSubscription(tx: Tx, wanted: AddStandingSubscription): Promise<string> {
  checkSubscription(wanted);
  await holdTelling(tx, { tenant: wanted.tenant, waits: [wanted] });
  const same = await selectSameStanding(tx, wanted);
  if (same !== undefined) return same;
  if ((await countStandingSubscriptions(tx, wanted.home)) >= suspensionLimits.standingPerAgent) {
    throw new Problem('conflict', `an agent may have ${suspensionLimits.standingPerAgent} subscriptions`);
  }
  const { ids, ...subscription } = wanted;
  const id = newId('sub', wanted.home, ids);
  await insertSubscription(tx, { ...subscription, id, owner: 'agent' });
  return id;
}
