// The activation policy over the whole product of its facts: what always holds, and the table as a text to be read.
import { describe, expect, it } from 'vitest';
import {
  type ActivationFacts,
  type AttentionVerdict,
  controlVerbs,
  type Decision,
  decideActivation,
} from '../../../src/foundation/index.js';

const kinds = ['command', 'event', 'context', 'control'] as const;
const routes = ['target', 'subscription', 'suspension', 'control', 'none'] as const;
const states = ['none', 'idle', 'active', 'suspended'] as const;
const statuses = ['active', 'paused', 'ended'] as const;
const whenActives = ['enqueue', 'steer', 'fork', 'project'] as const;
const abilities = [
  { supports_steer: true, supports_fork: true, state_portability: 'portable' },
  { supports_steer: false, supports_fork: false, state_portability: 'native' },
  { supports_steer: false, supports_fork: false, state_portability: 'portable' },
  { supports_steer: true, supports_fork: true, state_portability: 'remote' },
] as const;
const verdicts: readonly (AttentionVerdict['verdict'] | undefined)[] = [undefined, 'wake', 'project', 'ignore'];
const lanes = [{}, { laneHeld: true }, { laneFull: true }];
const eight = ['IGNORE', 'PROJECT', 'ACTIVATE', 'ENQUEUE', 'STEER', 'INTERRUPT', 'FORK', 'RESUME'];

type Decided = ReturnType<typeof decideActivation>;
interface Law {
  law: string;
  about: (facts: ActivationFacts, decided: Decided) => boolean;
  holds: (facts: ActivationFacts, decided: Decided) => boolean;
}

const live = (facts: ActivationFacts) => facts.agentStatus !== 'ended' && facts.route !== 'none';
const ordinary = (facts: ActivationFacts) => live(facts) && facts.kind !== 'control' && facts.route !== 'control';
const authorized = (facts: ActivationFacts) => facts.kind === 'control' && facts.controlVerb !== undefined;
const canFork = ({ runtime }: ActivationFacts) => runtime.supports_fork || runtime.state_portability === 'portable';
const is =
  (...decisions: Decision[]) =>
  (_: ActivationFacts, { decision }: Decided) =>
    decisions.includes(decision);
const listens = (facts: ActivationFacts) =>
  live(facts) && facts.kind === 'event' && facts.route === 'subscription' && facts.wakes;

/** What attention was asked about, where it may be: what is listened to, and what is addressed to the agent unasked. */
const heard = (facts: ActivationFacts) =>
  ordinary(facts) &&
  facts.wakes &&
  facts.attention !== undefined &&
  (facts.kind === 'event' || facts.kind === 'command') &&
  (facts.route === 'subscription' || facts.route === 'target');

const laws: Law[] = [
  {
    law: 'exactly one of eight, with the id of its policy and a reason',
    about: () => true,
    holds: (_, { decision, policyId, reason }) => eight.includes(decision) && policyId !== '' && reason !== '',
  },
  {
    law: 'what reached nobody, and what reached an ended agent, is ignored',
    about: (facts) => !live(facts),
    holds: is('IGNORE'),
  },
  {
    law: 'context never wakes: it only ever projects',
    about: (facts) => live(facts) && facts.kind === 'context',
    holds: is('PROJECT'),
  },
  {
    law: 'a trust class that may not wake never does, whatever waits or listens',
    about: (facts) => ordinary(facts) && !facts.wakes,
    holds: is('PROJECT'),
  },
  {
    law: 'a control does nothing without authority',
    about: (facts) => live(facts) && facts.kind !== 'context' && facts.route === 'control' && !authorized(facts),
    holds: is('IGNORE'),
  },
  {
    law: 'F8: INTERRUPT comes from an authorized control alone, and only where something runs or waits',
    about: is('INTERRUPT'),
    holds: (facts) =>
      authorized(facts) &&
      (facts.controlVerb === 'cancel' || facts.controlVerb === 'interrupt') &&
      (facts.sessionState === 'active' || facts.sessionState === 'suspended'),
  },
  {
    law: 'F8: STEER only into an active session of a runtime that can',
    about: is('STEER'),
    holds: ({ sessionState, runtime }) => sessionState === 'active' && runtime.supports_steer,
  },
  {
    law: 'F8: STEER on a runtime that cannot becomes ENQUEUE',
    about: (facts) =>
      live(facts) &&
      facts.sessionState === 'active' &&
      !facts.runtime.supports_steer &&
      !facts.laneFull &&
      ((facts.kind === 'control' && facts.controlVerb === 'steer') ||
        (listens(facts) && facts.whenActive === 'steer' && (facts.attention?.verdict ?? 'wake') === 'wake')),
    holds: (_, { decision, reason }) => decision === 'ENQUEUE' && reason === 'steer_unsupported',
  },
  {
    law: 'F8: FORK needs the fork of the runtime or portable state',
    about: is('FORK'),
    holds: canFork,
  },
  {
    law: 'F8: without either a fork becomes ENQUEUE',
    about: (facts) =>
      live(facts) &&
      facts.kind === 'control' &&
      facts.controlVerb === 'fork' &&
      facts.sessionState !== 'none' &&
      !facts.laneFull &&
      !canFork(facts),
    holds: (_, { decision, reason }) => decision === 'ENQUEUE' && reason === 'fork_unsupported',
  },
  {
    law: 'RESUME needs a wait, and its match or a control that says so',
    about: is('RESUME'),
    holds: (facts) =>
      facts.sessionState === 'suspended' &&
      (facts.kind === 'control'
        ? facts.controlVerb === 'resume'
        : facts.suspensionMatches && facts.route === 'suspension'),
  },
  {
    law: 'a wait that is over takes nothing',
    about: (facts) =>
      ordinary(facts) &&
      facts.route === 'suspension' &&
      facts.kind !== 'context' &&
      facts.wakes &&
      !(facts.suspensionMatches && facts.sessionState === 'suspended'),
    holds: (_, { decision, reason }) => decision === 'IGNORE' && reason === 'suspension_consumed',
  },
  {
    law: 'ACTIVATE never meets a session that runs, waits or holds its lane',
    about: is('ACTIVATE'),
    holds: (facts) => (facts.sessionState === 'none' || facts.sessionState === 'idle') && !facts.laneHeld,
  },
  {
    law: 'F4: an event for a target that has not subscribed to it wakes nobody',
    about: (facts) =>
      live(facts) && facts.kind === 'event' && facts.route === 'target' && facts.attention === undefined,
    holds: is('PROJECT'),
  },
  {
    law: 'D16: attention that projects or ignores an event or a command says so, in its own name',
    about: (facts) => heard(facts) && facts.attention?.verdict !== 'wake',
    holds: (facts, { decision, policyId, reason }) =>
      decision === facts.attention?.verdict.toUpperCase() &&
      policyId === facts.attention.policyId &&
      reason === facts.attention.reason,
  },
  {
    law: 'D16: attention has no say in controls, context and waits',
    about: (facts) => facts.attention !== undefined && !heard(facts),
    holds: (facts, decided) => same(decided, decideActivation(without(facts, 'attention'))),
  },
  {
    law: 'D16: a sign of its own time, goals or domain wakes an agent that has not subscribed to it, where attention says so',
    about: (facts) =>
      heard(facts) && facts.kind === 'event' && facts.route === 'target' && facts.attention?.verdict === 'wake',
    holds: (facts, decided) =>
      same(
        { ...decided, reason: decided.reason.replace('event_attended', 'event_subscribed') },
        decideActivation({ ...facts, route: 'subscription' }),
      ),
  },
  {
    law: 'D16: without a verdict attention wakes',
    about: (facts) =>
      facts.attention?.verdict === 'wake' && !(facts.kind === 'event' && facts.route === 'target' && heard(facts)),
    holds: (facts, decided) => same(decided, decideActivation(without(facts, 'attention'))),
  },
  {
    law: 'F1: a control verb on anything that is not a control changes nothing',
    about: (facts) => facts.kind !== 'control' && facts.controlVerb !== undefined,
    holds: (facts, decided) => same(decided, decideActivation(without(facts, 'controlVerb'))),
  },
  {
    law: 'F6: a full lane takes nothing more, and says so; nothing else changes by it',
    about: (facts) => facts.laneFull === true,
    holds(facts, decided) {
      const otherwise = decideActivation(without(facts, 'laneFull'));
      return otherwise.decision === 'ENQUEUE' || otherwise.decision === 'STEER'
        ? decided.decision === 'IGNORE' && decided.reason === 'lane_full'
        : same(decided, otherwise);
    },
  },
  {
    law: 'a paused agent is decided on as an active one',
    about: ({ agentStatus }) => agentStatus === 'paused',
    holds: (facts, decided) => same(decided, decideActivation({ ...facts, agentStatus: 'active' })),
  },
];

function same(one: Decided, other: Decided): boolean {
  return one.decision === other.decision && one.policyId === other.policyId && one.reason === other.reason;
}

function without<Name extends keyof ActivationFacts>(facts: ActivationFacts, name: Name): Omit<ActivationFacts, Name> {
  const { [name]: _, ...rest } = facts;
  return rest;
}

function* everyFacts(): Generator<ActivationFacts> {
  for (const [kind, route] of pairs(kinds, routes))
    for (const [sessionState, agentStatus] of pairs(states, statuses))
      for (const [ability, whenActive] of pairs(abilities, whenActives))
        for (const [verb, verdict] of pairs([undefined, ...controlVerbs], verdicts))
          for (const [lane, bits] of pairs(lanes, [0, 1, 2, 3]))
            yield {
              kind,
              route,
              sessionState,
              agentStatus,
              whenActive,
              suspensionMatches: (bits & 1) === 1,
              wakes: (bits & 2) === 2,
              ...lane,
              ...(verb === undefined ? {} : { controlVerb: verb }),
              ...(verdict === undefined ? {} : { attention: { verdict, policyId: 'attention.test', reason: 'said' } }),
              runtime: {
                runtime_id: 'r',
                runtime_version: '1',
                supports_interrupt: true,
                supports_native_resume: true,
                supports_checkpoint: true,
                suspend: 'native',
                ...ability,
              },
            };
}

function firstWhere(test: (facts: ActivationFacts) => boolean): ActivationFacts | undefined {
  for (const facts of everyFacts()) if (test(facts)) return facts;
  return undefined;
}

function* pairs<One, Other>(ones: readonly One[], others: readonly Other[]): Generator<[One, Other]> {
  for (const one of ones) for (const other of others) yield [one, other];
}

const seen = new Map(laws.map((law) => [law, { about: 0, broken: [] as ActivationFacts[] }]));
const table = new Map<string, Set<string>>();
const reached = new Set<Decision>();
let product = 0;
for (const facts of everyFacts()) {
  product += 1;
  const decided = decideActivation(facts);
  reached.add(decided.decision);
  for (const [law, found] of seen) {
    if (!law.about(facts, decided)) continue;
    found.about += 1;
    if (!law.holds(facts, decided) && found.broken.length < 3) found.broken.push(facts);
  }
  if (facts.agentStatus !== 'active' || facts.route === 'none') continue;
  const row = `${facts.kind} by ${facts.route}, session ${facts.sessionState}`;
  const outcomes = table.get(row) ?? new Set();
  table.set(row, outcomes.add(`${decided.decision} ${decided.policyId} ${decided.reason}`));
}

describe('F5: one decision per candidate, over every (kind × route × session × agent × runtime × attention × lane)', () => {
  it.each(laws)('$law', (law) => {
    const found = seen.get(law);
    expect(found?.broken).toEqual([]);
    expect(found?.about).toBeGreaterThan(0);
  });

  it('all eight are reached, and the product is the whole one', () => {
    expect([...reached].sort()).toEqual([...eight].sort());
    expect(product).toBe(4 * 5 * 4 * 3 * 4 * 4 * 6 * 4 * 3 * 4);
  });

  it('the outcomes of each kind, way and state are those of the golden table', async () => {
    const text = [...table].map(([row, outcomes]) => [row, ...[...outcomes].sort()].join('\n  ')).join('\n');
    await expect(`${text}\n`).toMatchFileSnapshot('./decision-table.txt');
  });

  it('the same event gives different decisions in different states', () => {
    const facts = firstWhere(
      (f) => listens(f) && f.whenActive === 'steer' && f.runtime.supports_steer && f.agentStatus === 'active',
    );
    if (!facts) throw new Error('no such facts');
    expect(states.map((sessionState) => decideActivation({ ...facts, sessionState }).decision)).toEqual([
      'ACTIVATE',
      'ACTIVATE',
      'STEER',
      'ENQUEUE',
    ]);
  });
});
