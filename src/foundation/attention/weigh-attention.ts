/**
 * The Attention policy (D16): event-, time-, state- and goal-driven signs go through the same table; the first row that
 * applies decides. Without settings every row but the last stands aside, and the event wakes.
 */
import type { AttentionFacts, WeighedAttention, Weights } from './attention.js';

type Verdict = WeighedAttention['verdict'];

interface Row {
  policyId: string;
  /** The verdict and its reason; undefined where the row does not apply. */
  decide: (facts: AttentionFacts, worth: number) => readonly [Verdict, string] | undefined;
}

const policy: readonly Row[] = [
  {
    policyId: 'attention.trust',
    decide: ({ trustClass }) => (trustClass === 'historical_evidence' ? ['project', 'historical_evidence'] : undefined),
  },
  {
    policyId: 'attention.duplicate',
    decide: ({ duplicate }) => (duplicate === undefined ? undefined : ['ignore', `duplicate_${duplicate}`]),
  },
  {
    policyId: 'attention.risk',
    decide(facts) {
      const { strangers = 'wake' } = facts.settings;
      return isRisky(facts) && strangers !== 'wake' ? [strangers, 'untrusted_stranger'] : undefined;
    },
  },
  {
    // What cannot wait is neither stale nor too dear.
    policyId: 'attention.urgent',
    decide: (facts) => (isUrgent(facts) ? ['wake', 'urgent'] : undefined),
  },
  {
    // How late a timer may be is said by its schedule.
    policyId: 'attention.freshness',
    decide: (facts) => (facts.signal !== 'time' && isStale(facts) ? ['project', 'stale'] : undefined),
  },
  {
    policyId: 'attention.budget',
    decide: ({ settings: { budget }, wakes }) =>
      budget !== undefined && wakes >= budget.wakes ? ['project', 'budget_spent'] : undefined,
  },
  {
    policyId: 'attention.worth',
    decide: ({ settings: { leastWorth } }, worth) =>
      leastWorth !== undefined && worth < leastWorth ? ['project', 'not_worth_it'] : undefined,
  },
  { policyId: 'attention.default', decide: ({ signal }) => ['wake', `${signal}_signal`] },
];

export function weighAttention(facts: AttentionFacts): WeighedAttention {
  const weights = weigh(facts);
  const worth = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  for (const { policyId, decide } of policy) {
    const decided = decide(facts, worth);
    if (decided) return { verdict: decided[0], policyId, reason: decided[1], weights };
  }
  throw new Error('the last row applies to everything');
}

const trustWeights = { instruction: 3, trusted_fact: 2, untrusted_content: 1, historical_evidence: 0 } as const;
const relationshipWeights = { own: 3, known: 2, stranger: 0 } as const;
const priorityWeights = { urgent: 4, normal: 1, bulk: 0 } as const;

/** What speaks for an event, and below zero what speaks against it. */
function weigh(facts: AttentionFacts): Weights {
  const { trustClass, relationship, subscription, settings, wakes } = facts;
  const urgency = isUrgent(facts) ? priorityWeights.urgent : priorityWeights[facts.priority];
  const spent = settings.budget === undefined ? 0 : Math.min(1, wakes / settings.budget.wakes);
  return {
    trust: trustWeights[trustClass],
    relationship: relationshipWeights[relationship],
    subscription: subscription
      ? (subscription.bySubject ? 1 : 0) + (subscription.byPrefix ? 0 : 1) + priorityWeights[subscription.priority]
      : 0,
    urgency,
    freshness: isStale(facts) ? -2 : 0,
    cost: against(Math.floor(4 * spent)),
    duplicate: against(facts.duplicate === undefined ? 0 : 4),
    risk: against(isRisky(facts) ? 2 : 0),
    active_run: against(facts.activeRun ? 1 : 0),
  };
}

/** Never a negative zero. */
function against(weight: number): number {
  return weight === 0 ? 0 : -weight;
}

function isRisky({ trustClass, relationship }: AttentionFacts): boolean {
  return trustClass === 'untrusted_content' && relationship === 'stranger';
}

function isUrgent({ priority, subscription, dueInMs, settings: { urgentWithinMs } }: AttentionFacts): boolean {
  if (priority === 'urgent' || subscription?.priority === 'urgent') return true;
  return dueInMs !== undefined && urgentWithinMs !== undefined && dueInMs <= urgentWithinMs;
}

function isStale({ ageMs, settings: { staleAfterMs } }: AttentionFacts): boolean {
  return staleAfterMs !== undefined && ageMs > staleAfterMs;
}
