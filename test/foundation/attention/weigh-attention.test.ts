// D16: the attention policy over the product of its facts, and its rows one by one.
import { describe, expect, it } from 'vitest';
import { type AttentionFacts, weighAttention } from '../../../src/foundation/index.js';

const plain: AttentionFacts = {
  signal: 'event',
  trustClass: 'untrusted_content',
  relationship: 'known',
  subscription: { bySubject: false, byPrefix: false, priority: 'normal' },
  priority: 'normal',
  ageMs: 0,
  wakes: 0,
  activeRun: false,
  settings: { whenActive: 'enqueue' },
};
const weigh = (over: Partial<AttentionFacts>, settings: Partial<AttentionFacts['settings']> = {}) => {
  const { verdict, policyId, reason } = weighAttention({
    ...plain,
    ...over,
    settings: { ...plain.settings, ...settings },
  });
  return `${verdict} ${policyId} ${reason}`;
};

describe('D16: what attention makes of a sign', () => {
  it('an agent that says nothing of it is woken by everything that may wake, as ever', () => {
    const signals = ['event', 'time', 'state', 'goal'] as const;
    for (const signal of signals) {
      for (const relationship of ['own', 'known', 'stranger'] as const) {
        for (const priority of ['urgent', 'normal', 'bulk'] as const) {
          for (const trustClass of ['instruction', 'trusted_fact', 'untrusted_content'] as const) {
            for (const activeRun of [true, false]) {
              const facts = {
                signal,
                relationship,
                priority,
                trustClass,
                activeRun,
                ageMs: 1e12,
                dueInMs: 1,
                wakes: 0,
              };
              expect(weigh(facts)).toMatch(/^wake /);
            }
          }
        }
      }
    }
  });

  it.each<[string, Partial<AttentionFacts>, Partial<AttentionFacts['settings']>]>([
    ['project attention.trust historical_evidence', { trustClass: 'historical_evidence' }, {}],
    ['ignore attention.duplicate duplicate_waiting', { duplicate: 'waiting', priority: 'urgent' }, {}],
    ['ignore attention.duplicate duplicate_seen', { duplicate: 'seen' }, {}],
    ['project attention.risk untrusted_stranger', { relationship: 'stranger' }, { strangers: 'project' }],
    [
      'ignore attention.risk untrusted_stranger',
      { relationship: 'stranger', priority: 'urgent' },
      { strangers: 'ignore' },
    ],
    [
      'wake attention.default event_signal',
      { relationship: 'stranger', trustClass: 'trusted_fact' },
      { strangers: 'ignore' },
    ],
    ['wake attention.default event_signal', { relationship: 'known' }, { strangers: 'ignore' }],
    ['wake attention.default event_signal', { ageMs: 1_000 }, { staleAfterMs: 1_000 }],
    ['project attention.freshness stale', { ageMs: 1_001 }, { staleAfterMs: 1_000 }],
    ['wake attention.default time_signal', { ageMs: 1_001, signal: 'time' }, { staleAfterMs: 1_000 }],
    ['wake attention.urgent urgent', { ageMs: 1_001, priority: 'urgent' }, { staleAfterMs: 1_000 }],
    ['wake attention.default event_signal', { wakes: 2 }, { budget: { wakes: 3, windowMs: 1 } }],
    ['project attention.budget budget_spent', { wakes: 3 }, { budget: { wakes: 3, windowMs: 1 } }],
    [
      'wake attention.urgent urgent',
      { wakes: 3, dueInMs: 10 },
      { budget: { wakes: 3, windowMs: 1 }, urgentWithinMs: 10 },
    ],
    [
      'project attention.budget budget_spent',
      { wakes: 3, dueInMs: 11 },
      { budget: { wakes: 3, windowMs: 1 }, urgentWithinMs: 10 },
    ],
    ['wake attention.default goal_signal', { signal: 'goal' }, { leastWorth: 6 }],
    ['project attention.worth not_worth_it', { signal: 'goal' }, { leastWorth: 7 }],
    ['project attention.worth not_worth_it', { activeRun: true }, { leastWorth: 6 }],
    ['wake attention.default event_signal', { activeRun: true, relationship: 'own' }, { leastWorth: 6 }],
  ])('%s: %j %j', (expected, over, settings) => {
    expect(weigh(over, settings)).toBe(expected);
  });

  it('a subscription that is urgent to the agent wakes it whatever its budget', () => {
    const subscription = { bySubject: true, byPrefix: false, priority: 'urgent' } as const;
    expect(weigh({ subscription, wakes: 9 }, { budget: { wakes: 1, windowMs: 1 } })).toBe(
      'wake attention.urgent urgent',
    );
  });

  it('the weights name each fact, for and against', () => {
    const { weights } = weighAttention({
      ...plain,
      relationship: 'stranger',
      activeRun: true,
      wakes: 2,
      ageMs: 2,
      settings: { whenActive: 'enqueue', budget: { wakes: 4, windowMs: 1 }, staleAfterMs: 1 },
    });
    expect(weights).toEqual({
      trust: 1,
      relationship: 0,
      subscription: 2,
      urgency: 1,
      freshness: -2,
      cost: -2,
      duplicate: 0,
      risk: -2,
      active_run: -1,
    });
  });
});
