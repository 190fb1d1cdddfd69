// One input that concerns many: everybody is decided on, in parts that commit one by one, up to a stated number.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AgentDefinition,
  type AgentDirectory,
  fanOutLimits,
  resolveInputs,
} from '../../../src/foundation/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, Killed, killedAt, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => {
  world = openFoundationWorld(test.database);
});

const script = (type: string) => ({
  rules: [
    { when: { type: 'many.begin' }, steps: [{ suspend: { reason: 'r', until: [{ type }] } }, { complete: 'woken' }] },
    { when: { type: 'many.*' }, steps: [{ complete: 'heard' }] },
  ],
});

/** One agent with many sessions that wait for a type of their own. */
async function crowd(type: string, sessions: number): Promise<AgentDefinition> {
  const agent = await world.addAgent({ script: script(type) });
  for (let count = 0; count < sessions; count += 1)
    await world.send({ type: 'many.begin', target: { agent: agent.agent } });
  await world.settle();
  return agent;
}

async function woken(agent: AgentDefinition): Promise<number> {
  return (await world.runs(agent)).filter(({ result }) => result === 'woken').length;
}

/** Resolves until nothing is left, and says how many commits it took. */
async function resolveAll(parts: FoundationWorld['parts'], limits: { page: number; most: number }): Promise<number> {
  for (let commits = 1; commits < 1_000; commits += 1) {
    const outcome = await resolveInputs({ ...parts, fanOut: { limits } });
    if (outcome === 'idle') return commits;
  }
  throw new Error('not resolved');
}

describe('F3, F4: an input that concerns many', () => {
  it('is decided for all that wait and all that listen, each once, a part a commit; what comes behind it waits', async () => {
    const agents = [await crowd('f1.go', 5), await crowd('f1.go', 4)];
    const listeners: AgentDefinition[] = [];
    for (let count = 0; count < 5; count += 1) {
      const agent = await world.addAgent({ script: script('none') });
      for (const type of ['f1.go', 'f1.*']) await world.subscribe(agent, { type });
      listeners.push(agent);
    }
    const target = { agent: listeners[0]?.agent ?? '' };
    const input = await world.send({ kind: 'event', type: 'f1.go', target });
    const next = await world.send({ kind: 'event', type: 'f1.next' });
    expect(await resolveAll(world.parts, { page: 2, most: 100 })).toBeGreaterThan(8);
    await world.settle();
    expect([await woken(agents[0] as never), await woken(agents[1] as never)]).toEqual([5, 4]);
    const { dispositions } = await world.view(input);
    const count = (decision: string) => dispositions.filter((each) => each.decision === decision).length;
    expect({ all: dispositions.length, resumed: count('RESUME'), activated: count('ACTIVATE') }).toEqual({
      all: 14,
      resumed: 9,
      activated: 5,
    });
    for (const agent of listeners) expect(await world.runs(agent)).toHaveLength(2);
    expect((await world.view(next)).dispositions).toHaveLength(5);
  });

  it('BR-40: a crash between the parts, at any commit, leaves nobody out and wakes nobody twice', async () => {
    const agent = await crowd('f2.go', 7);
    const input = await world.send({ kind: 'event', type: 'f2.go' });
    for (const moment of ['before', 'after', 'before', 'after'] as const) {
      const host = world.host({ db: killedAt(test.database, { transaction: 2, moment }) });
      await resolveAll(host, { page: 2, most: 100 }).catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error;
      });
    }
    await resolveAll(world.parts, { page: 2, most: 100 });
    await world.settle();
    expect(await woken(agent)).toBe(7);
    expect((await world.view(input)).dispositions).toHaveLength(7);
  });

  it('reaches as many as it may, and with one more its disposition says so; who is addressed is always reached', async () => {
    expect(fanOutLimits.most).toBe(100_000);
    const agent = await crowd('f3.go', 6);
    const fits = await world.send({ kind: 'event', type: 'f3.go' });
    await resolveAll(world.parts, { page: 4, most: 6 });
    await world.settle();
    expect(await woken(agent)).toBe(6);
    expect(await world.decision(fits)).not.toContain('fan_out_limit');

    const more = await crowd('f4.go', 7);
    const target = { agent: more.agent };
    const cut = await world.send({ kind: 'event', type: 'f4.go', target });
    await resolveAll(world.parts, { page: 4, most: 6 });
    await world.settle();
    expect(await woken(more)).toBe(6);
    const decisions = (await world.view(cut)).dispositions.map(({ decision, reason }) => `${decision} ${reason}`);
    expect(decisions.filter((each) => each === 'IGNORE fan_out_limit')).toHaveLength(1);
    expect(decisions.filter((each) => each === 'PROJECT event_not_subscribed')).toHaveLength(1);
  });

  it('one candidate that cannot be decided on is set aside alone', async () => {
    const agents = [await crowd('f6.go', 1), await crowd('f6.go', 1), await crowd('f6.go', 1)];
    const bad = agents[1]?.home ?? '';
    const input = await world.send({ kind: 'event', type: 'f6.go' });
    const runtimes = {
      ...world.parts.runtimes,
      open: (runtime: AgentDefinition['runtime']) => {
        if (runtime === badRuntime) throw new Error('always');
        return world.parts.runtimes.open(runtime);
      },
    };
    const badRuntime = (await world.parts.directory.byHome(test.database.sql, bad))?.runtime;
    await resolveInputs({ ...world.parts, runtimes });
    await world.settle();
    expect(await Promise.all(agents.map(woken))).toEqual([1, 0, 1]);
    expect(await world.decision(input)).toBe(
      'IGNORE resolver_fault, RESUME suspension_matched, RESUME suspension_matched',
    );
  });

  it('an agent that cannot be looked up is passed over, on whatever page it stands', async () => {
    const agents = [await crowd('f7.go', 3), await crowd('f7.go', 3), await crowd('f7.go', 3)];
    const bad = agents[1]?.home ?? '';
    const input = await world.send({ kind: 'event', type: 'f7.go' });
    const directory: AgentDirectory = {
      ...world.parts.directory,
      byHome: (sql, home) => (home === bad ? sql`select 1 / 0` : world.parts.directory.byHome(sql, home)) as never,
    };
    await resolveAll({ ...world.parts, directory }, { page: 2, most: 100 });
    await world.settle();
    expect(await Promise.all(agents.map(woken))).toEqual([3, 0, 3]);
    expect((await world.view(input)).dispositions).toHaveLength(6);
  });

  it('by default takes more than a page and leaves out nobody', async () => {
    const agent = await world.addAgent({ script: script('f5.go') });
    const { page } = fanOutLimits;
    const sessions = page + 5;
    for (let count = 0; count < sessions; count += 1)
      await world.send({ type: 'many.begin', target: { agent: agent.agent } });
    await world.settle();
    await world.send({ kind: 'event', type: 'f5.go' });
    await world.settle();
    expect(await woken(agent)).toBe(sessions);
  }, 120_000);
});
