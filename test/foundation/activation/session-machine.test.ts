// The session and run machine on real PostgreSQL against a small reference, in seeded random sequences of everything that
// can happen to it: dispositions, order of runs, attempts, waits and states are the same after each sequence.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { controlVerbs } from '../../../src/foundation/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type Machine, openMachine, showReference } from './machine-world.js';
import { pliant, rigid } from './puppet-runtime.js';
import { referenceMachine } from './reference-machine.js';
import { answerType, type RefAgent, type RefInput, type RefWorld } from './reference-session.js';

const long = Boolean(process.env.HEARTH_TEST_LONG);
const sequences = long ? 2_000 : 30;

const agents: RefAgent[] = [
  { whenActive: 'enqueue', runtime: rigid, laneOrder: 'arrival', merges: false },
  { whenActive: 'steer', runtime: pliant, laneOrder: 'priority', merges: false },
  { whenActive: 'fork', runtime: pliant, laneOrder: 'arrival', merges: false },
  { whenActive: 'enqueue', runtime: pliant, laneOrder: 'priority', merges: true },
];

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const pick = fc.nat({ max: 999 });
const agent = fc.nat({ max: agents.length - 1 });
const ordinary = fc.record({
  kind: fc.constantFrom('command' as const, 'event' as const, 'event' as const, 'context' as const),
  type: fc.constantFrom(answerType, 'test.work', 'test.work'),
  subject: fc.constantFrom('s0', 's0', 's1', undefined),
  historical: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  priority: fc.constantFrom('urgent' as const, 'normal' as const, 'bulk' as const),
  refused: fc.boolean(),
  agent,
});
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      inputs: fc.array(ordinary, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      at: pick,
      how: fc.constantFrom(
        'completed' as const,
        'suspended' as const,
        'suspended' as const,
        'failed' as const,
        'budget_exceeded' as const,
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('control' as const),
      verb: fc.constantFrom(...controlVerbs),
      agent,
      at: pick,
      run: fc.option(pick),
      refused: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lapse' as const), at: pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('crash' as const, 'drain' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('window' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type Reference = ReturnType<typeof referenceMachine>;

describe('F5, F6, F7, F14: sessions, lanes, runs, waits and controls do what the reference does', () => {
  it(
    `in ${sequences} seeded sequences`,
    async () => {
      let count = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24, size: 'max' }), async (steps) => {
          count += 1;
          const reference = referenceMachine(agents);
          const machine = await openMachine(test.database, agents, `m${count}`);
          try {
            for (const each of steps) await take(reference, machine, each);
            expect(await machine.read()).toEqual(reference.worlds.map(showReference));
          } finally {
            await machine.close();
          }
        }),
        { numRuns: sequences, ...(long ? {} : { seed: 41 }), endOnFailure: !process.env.HEARTH_TEST_SHRINK },
      );
    },
    long ? 3_600_000 : 120_000,
  );
});

async function take(reference: Reference, machine: Machine, each: Step): Promise<void> {
  switch (each.do) {
    case 'send': {
      reference.send(each.inputs);
      return machine.send(each.inputs);
    }
    case 'control': {
      const input = controlOf(reference.worlds[each.agent], each);
      if (!input) return;
      reference.send([input]);
      return machine.send([input]);
    }
    case 'end': {
      const live = chosen(reference, each.at);
      if (!live) return;
      const { subject } = live.session;
      reference.end(live.agent, live.at, each.how);
      return machine.end(live.agent, live.at, each.how, subject);
    }
    case 'lapse': {
      const live = chosen(reference, each.at);
      if (!live) return;
      reference.lose(live.agent, live.at, 'lease_expired');
      return machine.lapse(live.agent, live.at);
    }
    case 'crash':
    case 'drain': {
      for (const { agent: owner, at } of allLive(reference)) {
        reference.lose(owner, at, each.do === 'crash' ? 'lease_expired' : 'host_stopping');
      }
      return each.do === 'crash' ? machine.crash() : machine.drain();
    }
    case 'window':
      reference.passWindows();
      return machine.passWindows();
  }
}

function allLive({ worlds }: Reference) {
  return worlds.flatMap(({ sessions }, owner) =>
    sessions.flatMap((session, at) => (session.state === 'active' ? [{ agent: owner, at, session }] : [])),
  );
}

function chosen(reference: Reference, at: number) {
  const live = allLive(reference);
  return live[at % Math.max(1, live.length)];
}

function controlOf(world: RefWorld | undefined, each: Extract<Step, { do: 'control' }>): RefInput | undefined {
  if (!world || world.sessions.length === 0) return undefined;
  const session = each.at % world.sessions.length;
  const runs = world.sessions[session]?.runs.length ?? 0;
  return {
    kind: 'control',
    type: 'run.control',
    subject: undefined,
    historical: false,
    priority: 'normal',
    refused: each.refused,
    agent: each.agent,
    control: { verb: each.verb, session, run: each.run === null || runs === 0 ? undefined : each.run % runs },
  };
}
