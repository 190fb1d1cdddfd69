// F25: what the Foundation itself does can be waited for and listened to.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  addStandingSubscription,
  factLimits,
  noteFact,
  noteFacts,
  parseAgentInput,
  replaySuspensions,
  resolveInputs,
  startRuns,
} from '../../../src/foundation/index.js';
import { mintFrom } from '../../../src/foundation/new-id.js';
import type { JsonObject } from '../../../src/protocol/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => {
  world = openFoundationWorld(test.database);
});

const worker = {
  rules: [
    {
      when: { type: 'fact.work' },
      steps: [{ propose: { id: 'e', action: 'count.once', target: 'x' } }, { complete: 'secret' }],
    },
    { when: { type: 'fact.fail' }, steps: [{ fail: 'because' }] },
    { when: { type: 'fact.wait' }, steps: [{ suspend: { reason: 'r', until: [{ type: 'fact.never' }] } }] },
  ],
};
const observer = { rules: [{ when: { type: 'run.*' }, steps: [{ complete: { saw: { $ref: '/activation' } } }] }] };

async function factsOf({ tenant }: { tenant: string }) {
  return test.database.sql<
    { type: string; data: JsonObject; trustClass: string; source: string; causationId: string }[]
  >`
    select type, data, trust_class, source, causation_id
      from foundation.inputs
     where tenant = ${tenant} and source = 'hearth://foundation'
     order by received_at, id`;
}

const at = (tenant: string) => ({ tenant });

describe('F25: facts of the Foundation as inputs', () => {
  it('the end of a run and the outcome of an effect are told to who listens, with their cause and without their content', async () => {
    const tenant = 'facts-1';
    const agent = await world.addAgent({ script: worker, tenant });
    const watcher = await world.addAgent({ script: { rules: [] }, tenant });
    for (const type of ['run.*', 'effect.succeeded']) await world.subscribe(watcher, { type });
    const target = { agent: agent.agent };
    const work = await world.send({ type: 'fact.work', target }, at(tenant));
    await world.settle();
    await world.send({ type: 'fact.fail', target }, at(tenant));
    await world.settle();
    await world.send({ type: 'fact.wait', target }, at(tenant));
    await world.settle();
    // The watcher's own runs are facts too: those of the first round are compared.
    const facts = (await factsOf({ tenant })).filter(({ data }) => data.depth === 1);
    expect(facts.map(({ type }) => type)).toEqual(['effect.succeeded', 'run.completed', 'run.failed', 'run.suspended']);
    const [run] = await world.runs(agent);
    expect(facts[1]).toMatchObject({
      trustClass: 'trusted_fact',
      causationId: work,
      data: { run_id: run?.id, session_id: run?.sessionId, status: 'completed', reason: null, depth: 1 },
    });
    expect(facts[2]).toMatchObject({ data: { reason: 'because' } });
    expect(JSON.stringify(facts)).not.toContain('secret');
  });

  it('nothing is written where nobody could match, and nothing for another tenant', async () => {
    const tenant = 'facts-2';
    const agent = await world.addAgent({ script: worker, tenant });
    const foreign = await world.addAgent({ script: observer, tenant: 'facts-2b' });
    await world.subscribe(foreign, { type: 'run.*' });
    await world.subscribe(agent, { type: 'run.completed', subject: 'run:another' });
    await world.send({ type: 'fact.work', target: { agent: agent.agent } }, at(tenant));
    await world.settle();
    expect(await factsOf({ tenant })).toEqual([]);
    expect(await world.runs(foreign)).toEqual([]);
  });

  it('nobody can forge one: their types are the domain’s own', () => {
    for (const type of ['run.completed', 'effect.failed', 'message.observed', 'approval.given', 'suspension.expired']) {
      const input = { kind: 'event', type, source_event_id: 'x' };
      expect(() => parseAgentInput(input), type).toThrow('produced by the domain itself');
    }
  });

  it('F14: a wait for a run that has ended already, unnoticed, is told of it', async () => {
    const tenant = 'facts-3';
    const agent = await world.addAgent({ script: worker, tenant });
    await world.send({ type: 'fact.work', target: { agent: agent.agent } }, at(tenant));
    await world.settle();
    const [run] = await world.runs(agent);
    const [effect] = await test.database.sql<{ effectId: string }[]>`
      select effect_id from foundation.effects where home = ${agent.home}`;
    expect(await factsOf({ tenant })).toEqual([]);
    const until = [
      { type: 'run.*', subject: { $ref: '/activation/data/run' } },
      { type: 'effect.succeeded', subject: { $ref: '/activation/data/effect' } },
    ];
    const steps = [{ suspend: { reason: 'r', until, resume: 'all' } }, { complete: { saw: { $ref: '/inputs' } } }];
    const waiter = await world.addAgent({ script: { rules: [{ when: { type: 'fact.join' }, steps }] }, tenant });
    const data = { run: `run:${run?.id}`, effect: `effect:${effect?.effectId}` };
    await world.send({ type: 'fact.join', target: { agent: waiter.agent }, data }, at(tenant));
    await world.settle();
    const [, second] = await world.runs(waiter);
    expect(second).toMatchObject({
      status: 'completed',
      result: { saw: [{ data: { depth: 1 } }, { data: { depth: 1 } }] },
    });
    // A second wait for the same is answered by the same input.
    await world.send({ type: 'fact.join', target: { agent: waiter.agent }, data }, at(tenant));
    await world.settle();
    await replaySuspensions(world.parts);
    expect((await factsOf({ tenant })).map(({ type }) => type).sort()).toEqual(['effect.succeeded', 'run.completed']);
    expect((await world.runs(waiter)).map(({ status }) => status)).toEqual([
      'suspended',
      'completed',
      'suspended',
      'completed',
    ]);
  });

  it(`an agent that listens to its own runs stops at depth ${factLimits.depth}, and the audit says so`, async () => {
    const tenant = 'facts-4';
    const agent = await world.addAgent({
      script: { ...observer, rules: [...observer.rules, ...worker.rules] },
      tenant,
    });
    await world.subscribe(agent, { type: 'run.completed' });
    await world.send({ type: 'fact.work', target: { agent: agent.agent } }, at(tenant));
    await world.settle();
    const depths = (await factsOf({ tenant })).map(({ data }) => data.depth);
    expect(depths).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await world.runs(agent)).toHaveLength(9);
    const audits = await test.database.sql`
      select outcome, details from foundation.audit_entries where home = ${agent.home} and action = 'fact.note'`;
    expect(audits).toEqual([{ outcome: 'too_deep', details: { type: 'run.completed', depth: 9 } }]);
  });

  it('the hook for approvals: told once, to who waits', async () => {
    const tenant = 'facts-5';
    const agent = await world.addAgent({ script: { rules: [] }, tenant });
    await world.subscribe(agent, { type: 'approval.*' });
    const { home } = agent;
    const fact = { home, tenant, type: 'approval.given', subject: 'approval:1', data: { approval_id: '1' } } as const;
    const note = () => test.database.transact('note', (tx) => noteFact(tx, { ...fact, ids: mintFrom(world.parts) }));
    expect([await note(), await note()]).toEqual([true, false]);
  });
});

describe('F14, F25: a fact that is told while somebody begins to wait for it', () => {
  const about = (tenant: string, home: string) => ({
    home,
    tenant,
    type: 'message.observed' as const,
    subject: 'message:m1',
    data: {},
    ids: mintFrom(world.parts),
  });

  it('is told to a listener whose subscription is under way when it is looked for', async () => {
    const tenant = 'facts-race-1';
    const agent = await world.addAgent({ script: observer, tenant });
    let noted: Promise<boolean> | undefined;
    await test.database.transact('subscribe', async (tx) => {
      await addStandingSubscription(tx, { ...agent, type: 'message.*', ids: mintFrom(world.parts) });
      noted = test.database.transact('tell', (inner) => noteFact(inner, about(tenant, agent.home)));
      await untilBlocked();
    });
    expect(await noted).toBe(true);
  });

  it('of several at once likewise', async () => {
    const tenant = 'facts-race-2';
    const agent = await world.addAgent({ script: observer, tenant });
    let noted: Promise<boolean> | undefined;
    await test.database.transact('subscribe', async (tx) => {
      await addStandingSubscription(tx, { ...agent, type: 'message.observed', ids: mintFrom(world.parts) });
      noted = test.database.transact('tell', (inner) => noteFacts(inner, [about(tenant, agent.home)]));
      await untilBlocked();
    });
    expect(await noted).toBe(true);
  });

  it('holds up a wait that begins after it was looked for, until it is over', async () => {
    const tenant = 'facts-race-3';
    const until = [{ type: 'message.observed' }];
    const steps = [{ suspend: { reason: 'r', until } }, { complete: 'observed' }];
    const agent = await world.addAgent({ script: { rules: [{ when: { type: 'fact.wait' }, steps }] }, tenant });
    await world.send({ type: 'fact.wait', target: { agent: agent.agent } }, at(tenant));
    await resolveInputs(world.parts);
    await test.database.transact('tell', async (tx) => {
      expect(await noteFact(tx, about(tenant, agent.home))).toBe(false);
      await startRuns(world.parts);
      await untilBlocked();
      expect((await world.runs(agent)).map(({ status }) => status)).toEqual(['running']);
    });
    await world.settle();
    expect((await world.runs(agent)).map(({ status }) => status)).toEqual(['suspended']);
    await test.database.transact('tell', (tx) => noteFact(tx, { ...about(tenant, agent.home), subject: 'message:m2' }));
    await world.settle();
    expect((await world.runs(agent)).map(({ status }) => status)).toEqual(['suspended', 'completed']);
  });

  /** Somebody waits for a lock of telling. */
  async function untilBlocked(): Promise<void> {
    await expect
      .poll(async () => test.database.sql`select 1 from pg_locks where locktype = 'advisory' and not granted`)
      .toHaveLength(1);
  }
});
