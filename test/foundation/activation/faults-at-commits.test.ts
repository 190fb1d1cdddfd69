// One journey through everything between an input and its settled run, with a fault before or after each commit on the way.
// A process does not end by it: its loops try again, and leases end what nobody drives.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type AgentDefinition,
  type AgentInput,
  acceptInput,
  drainRuns,
  type FoundationParts,
  keepLeases,
  mintFrom,
  openLanes,
  reapRuns,
  recoverEffects,
  replaySuspensions,
  resolveInputs,
  startRuns,
} from '../../../src/foundation/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { doorIngress, type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';
import { type Fault, faultyDatabase } from './faulty-database.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const script = {
  rules: [
    {
      when: { type: 'fault.begin' },
      steps: [
        { say: 'begun' },
        { propose: { id: 'effect', action: 'count.once', target: 'x' } },
        {
          suspend: { reason: 'waits', until: [{ type: 'fault.answer', subject: '{{/activation/subject/resource}}' }] },
        },
        { complete: { answer: { $ref: '/activation/data' } } },
      ],
    },
    { when: { type: 'fault.hold' }, steps: [{ await: 'steer' }, { complete: { told: { $ref: '/steered/data' } } }] },
    { when: { type: 'fault.*' }, steps: [{ complete: { took: { $ref: '/activation/data' } } }] },
  ],
  supports: { steer: true },
};

interface Journey {
  world: FoundationWorld;
  agent: AgentDefinition;
  host: FoundationParts;
  inputs: string[];
}

/** A caller that got no answer asks again, with the same event. */
async function send(journey: Journey, input: Partial<AgentInput>, control?: 'steer'): Promise<string> {
  const { host, inputs, agent } = journey;
  const event = { source_event_id: `${agent.home}-${inputs.length}`, kind: 'command', type: 'fault.work', ...input };
  const ingress = control
    ? { ...doorIngress, control: { verb: control, authority: 'human://alpha.test/users/u' } }
    : doorIngress;
  const accept = () =>
    host.db.transact('accept-input', (tx) =>
      acceptInput(tx, { ingress, input: event as AgentInput, ids: mintFrom(host) }),
    );
  const accepted = await accept().catch(accept);
  inputs.push(accepted.inputId);
  return accepted.inputId;
}

/** What the loops of a process do, again and again, until a state is reached. */
async function until(journey: Journey, reached: () => Promise<boolean>): Promise<void> {
  const { host, agent } = journey;
  const steps = [resolveInputs, replaySuspensions, openLanes, startRuns, keepLeases, recoverEffects];
  await vi.waitUntil(
    async () => {
      for (const step of steps) await step(host).catch(() => undefined);
      const driven = host.live.list().map(({ runId }) => runId);
      // The lease of a run that nobody drives has run out by and by, and so has the claim of an effect.
      await test.database.sql`
        update foundation.runs set lease_expires_at = hearth_lease_now() - interval '1 second'
         where home = ${agent.home} and status = 'running' and id <> all(${driven})`;
      await test.database.sql`
        update foundation.effects set claimed_until = hearth_lease_now() where home = ${agent.home} and status = 'dispatching'`;
      await reapRuns(host).catch(() => undefined);
      return reached();
    },
    { interval: 1, timeout: 15_000 },
  );
}

const runsThat = async ({ world, agent }: Journey, status: string) =>
  (await world.runs(agent)).filter((run) => run.status === status);

async function travel(journey: Journey): Promise<void> {
  const { agent, host } = journey;
  const target = { agent: agent.agent };
  const subject = (name: string) => ({ subject: { resource: `${agent.home}/${name}` } });

  await send(journey, { type: 'fault.begin', target, ...subject('wait') });
  await until(journey, async () => (await runsThat(journey, 'suspended')).length === 1);
  await send(journey, { kind: 'event', type: 'fault.answer', data: 'yes', ...subject('wait') });
  await until(journey, async () => (await runsThat(journey, 'completed')).length === 1);

  await send(journey, { type: 'fault.hold', target, ...subject('lane') });
  await until(journey, async () => host.live.list().length === 1);
  for (const data of [1, 2]) await send(journey, { kind: 'event', type: 'fault.news', data, ...subject('lane') });
  await tell(journey, 'first');
  await until(journey, async () => (await runsThat(journey, 'completed')).length === 2);
  await test.database.sql`
    update foundation.candidates set not_before = hearth_now() where home = ${agent.home} and status = 'queued'`;
  await test.database.sql`
    update foundation.sessions set lane_due_at = hearth_now() where home = ${agent.home} and lane_due_at is not null`;
  await until(journey, async () => (await runsThat(journey, 'completed')).length === 3);

  await send(journey, { type: 'fault.hold', target, ...subject('drain') });
  await until(journey, async () => host.live.list().length === 1);
  await drainRuns(host, { graceMs: 0 }).catch(() => undefined);
  await host.live.idle();
  await journey.world.expire();
  journey.host = journey.world.host();
  await until(journey, async () => journey.host.live.list().length === 1);
  await tell(journey, 'second');
  await until(journey, async () => (await runsThat(journey, 'completed')).length === 4);
}

async function tell(journey: Journey, data: string): Promise<void> {
  const session = (await runsThat(journey, 'running'))[0]?.sessionId ?? '';
  await send(journey, { kind: 'control', type: 'fault.control', target: { session }, data }, 'steer');
}

async function tryJourney(fault?: Fault) {
  const world = openFoundationWorld(test.database);
  const faulty = faultyDatabase(test.database, fault);
  const agent = await world.addAgent({ script, mergeWindowMs: 60_000 });
  await world.subscribe(agent, { type: 'fault.news', subject: `${agent.home}/lane` });
  const journey: Journey = { world, agent, host: world.host({ db: faulty.database }), inputs: [] };
  await travel(journey);
  const [open] = await test.database.sql<{ count: number }[]>`
    select (select count(*) from foundation.candidates where home = ${agent.home} and status in ('queued', 'running'))
         + (select count(*) from foundation.runs where home = ${agent.home} and status in ('queued', 'running'))
         + (select count(*) from foundation.sessions where home = ${agent.home} and state <> 'idle')
         + (select count(*) from foundation.suspensions where home = ${agent.home} and status = 'open') as count`;
  const views = await Promise.all(journey.inputs.map((id) => world.view(id)));
  return {
    faulty,
    shown: {
      inputs: new Set(journey.inputs).size,
      open: open?.count,
      dispositions: views.map(({ dispositions }) =>
        dispositions.map(({ decision, reason, status }) => `${decision} ${reason} ${status}`).sort(),
      ),
      results: (await runsThat(journey, 'completed')).map(({ result }) => result),
      dispatched: [...world.dispatched.values()],
    },
  };
}

describe('F2, F6, F12, F14: a fault before or after any commit between an input and its settled run', () => {
  it('leaves nothing undone and does nothing twice', async () => {
    const { faulty, shown } = await tryJourney();
    expect(shown).toEqual({
      inputs: 8,
      open: 0,
      dispositions: [
        ['ACTIVATE command consumed'],
        ['RESUME suspension_matched consumed'],
        ['ACTIVATE command consumed'],
        ['ENQUEUE session_active consumed'],
        ['ENQUEUE merged consumed'],
        ['STEER control_steer consumed'],
        ['ACTIVATE command consumed'],
        ['STEER control_steer consumed'],
      ],
      results: [{ answer: 'yes' }, { told: 'first' }, { took: 1 }, { told: 'second' }],
      dispatched: [1],
    });
    const names = [...new Set(faulty.names)].sort();
    expect(names).toEqual(expect.arrayContaining(way));
    for (const name of names) {
      // Loops that found nothing to do come again and again; beyond a few, one fault is like the other.
      const most = Math.min(faulty.names.filter((each) => each === name).length, process.env.HEARTH_TEST_LONG ? 12 : 2);
      for (let occurrence = 1; occurrence <= most; occurrence += 1) {
        for (const moment of ['before', 'after'] as const) {
          const at = `${moment} commit ${occurrence} of ${name}`;
          const faulted = await tryJourney({ name, occurrence, moment }).catch((error: unknown) => {
            throw new Error(at, { cause: error });
          });
          expect(faulted.faulty.struck(), at).toBe(true);
          expect(faulted.shown, at).toEqual(shown);
        }
      }
    }
  }, 600_000);
});

/** What the journey is known to pass; the table is every name that it did pass. */
const way = [
  'accept-input',
  'resolve-inputs',
  'start-runs',
  'keep-run-event',
  'settle-run',
  'settle-runs',
  'await-log',
  'replay-suspension',
  'confirm-control',
  'open-lane',
  'keep-leases',
  'give-back-run',
  'release-placements',
];
