/** The facts that attention weighs, asked of the database only where the agent's settings make something of them. */
import type { Tx } from '../../platform/index.js';
import type { InputRecord } from '../input/index.js';
import type { AgentDefinition, AttentionSettings } from '../ports.js';
import type { SubscriptionRecord } from '../suspension/index.js';
import { signalOf, type WeighedAttention } from './attention.js';
import { countWakes, findDuplicate } from './store.js';
import { weighAttention } from './weigh-attention.js';

/** Whether all that it weighs is in the input itself. */
export function looksAtNothing({ budget, duplicateWindowMs }: AttentionSettings): boolean {
  return budget === undefined && duplicateWindowMs === undefined;
}

export interface AttendTo {
  agent: AgentDefinition;
  input: InputRecord;
  /** By which the agent listens. */
  subscription: Pick<SubscriptionRecord, 'type' | 'subject' | 'priority'> | undefined;
  activeRun: boolean;
  now: Date;
}

export async function attendTo(
  tx: Tx,
  { agent, input, subscription, activeRun, now }: AttendTo,
): Promise<WeighedAttention> {
  const { attention: settings, home } = agent;
  const { budget, duplicateWindowMs: windowMs } = settings;
  const wakes =
    budget === undefined ? 0 : await countWakes(tx, { home, windowMs: budget.windowMs, most: budget.wakes });
  const key = input.idempotencyKey;
  const duplicate =
    windowMs === undefined || key === null
      ? undefined
      : await findDuplicate(tx, { home, input: { ...input, key }, windowMs });
  return weighAttention({
    signal: signalOf(input),
    trustClass: input.trustClass,
    relationship: input.relationship,
    subscription: subscription && {
      bySubject: subscription.subject !== null,
      byPrefix: subscription.type.endsWith('.*'),
      priority: subscription.priority,
    },
    priority: input.priority,
    dueInMs: input.dueAt === null ? undefined : input.dueAt.getTime() - now.getTime(),
    ageMs: now.getTime() - input.occurredAt.getTime(),
    wakes,
    duplicate,
    activeRun,
    settings,
  });
}
