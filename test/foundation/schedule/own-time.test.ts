/** F15: an agent sets its own time by what it proposes, and the loop of a process fires it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AgentDefinition,
  addSchedule,
  type FoundationParts,
  fireSchedules,
  mintFrom,
  scheduleAdapter,
  scheduleLimits,
  scheduleShape,
  selectSchedules,
} from '../../../src/foundation/index.js';
import { createWakeups, systemClock, systemRandom } from '../../../src/platform/index.js';
import type { JsonObject } from '../../../src/protocol/index.js';
import { runFireSchedules } from '../../../src/workers/fire-schedules.js';
import { createTestDatabase, type TestDatabase, testLog } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;
let parts: FoundationParts;

beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 12 });
  world = openFoundationWorld(test.database);
  const schedules = scheduleAdapter({ clock: systemClock(), random: systemRandom() });
  parts = world.host({ adapters: { forAction: (action) => (action.startsWith('schedule.') ? schedules : undefined) } });
});
afterAll(() => test.drop());

const from = (ms: number) => new Date(systemClock().now().getTime() + ms).toISOString();
const setting = (input: JsonObject) => ({ propose: { id: 'set', action: 'schedule.set', target: 'self', input } });
const woken = { when: { type: 'timer.expired' }, steps: [{ complete: { $ref: '/activation/data/data' } }] };
const agentThat = (...steps: object[]) =>
  world.addAgent({ script: { rules: [{ when: { type: 'test.work' }, steps }, woken] } as unknown as JsonObject });

async function work(agent: AgentDefinition): Promise<void> {
  await world.send({ target: { agent: agent.agent } });
  await world.settle([parts]);
}

const schedulesOf = ({ home }: AgentDefinition) => selectSchedules(test.database.sql, { home, after: '', limit: 10 });

async function outcomes(agent: AgentDefinition): Promise<unknown[]> {
  return (await world.runs(agent)).map(({ status, result }) => [status, result]);
}

describe('F15: the effect schedule.set', () => {
  it('wakes the agent that proposed it, with no more trust than it had', async () => {
    const timer = { rule: { kind: 'timer', at: from(-1_000) }, key: 'me', data: { note: 'look again' } };
    const agent = await agentThat(setting(timer), { complete: 'set' });
    await work(agent);
    const [set] = await schedulesOf(agent);
    expect(set).toMatchObject({ owner: agent.agent, agent: agent.agent, status: 'active' });
    expect(set?.trustClass).not.toBe('instruction');
    await fireSchedules(parts);
    await world.settle([parts]);
    expect(await outcomes(agent)).toEqual([
      ['completed', 'set'],
      ['completed', { note: 'look again' }],
    ]);
  });

  it('BR-43: proposed again under its key it is the same one, and schedule.cancel ends it', async () => {
    const daily = setting({ rule: { kind: 'cron', cron: '0 9 * * *' }, key: 'daily' });
    const again = { propose: { ...daily.propose, id: 'again' } };
    const cancel = { propose: { id: 'cancel', action: 'schedule.cancel', target: 'self', input: { key: 'daily' } } };
    const kept = await agentThat(daily, again, { complete: 'ok' });
    const ended = await agentThat(daily, cancel, { complete: 'ok' });
    await work(kept);
    await work(ended);
    expect((await schedulesOf(kept)).map(({ status }) => status)).toEqual(['active']);
    expect((await schedulesOf(ended)).map(({ status }) => status)).toEqual(['cancelled']);
  });

  it.each([
    ['a cron that cannot be read', { rule: { kind: 'cron', cron: 'whenever you like it' } }],
    ['a slot that is too far away', { rule: { kind: 'timer', at: from(scheduleLimits.horizonMs + 1e9) } }],
    ['an end that only the domain tells', { rule: { kind: 'expiry', at: from(0) } }],
    [
      'a session of somebody else',
      { rule: { kind: 'timer', at: from(0) }, session: 'ses_other_01jd0000000000000000000000' },
    ],
  ])('refuses %s, and the run goes on', async (_, input) => {
    const agent = await agentThat(setting(input), { complete: 'went on' });
    await work(agent);
    expect(await schedulesOf(agent)).toEqual([]);
    expect(await outcomes(agent)).toEqual([['completed', 'went on']]);
    const [run] = await world.runs(agent);
    expect(await world.events(run?.id ?? '')).toContain('effect.refused');
  });
});

describe('the loop that fires', () => {
  it('F15: fires at the instant of the slot, and what another process sets without a word to it soon after', async () => {
    const agent = await world.addAgent({});
    const clock = systemClock();
    const log = testLog();
    const wakeups = createWakeups({ clock, log, instance: 'loop' });
    const looping = world.host({ wakeups });
    const stop = new AbortController();
    const running = runFireSchedules(looping, stop.signal);
    const add = (ms: number) =>
      test.database.transact('add', (tx) =>
        addSchedule(tx, {
          draft: scheduleShape.parse({ rule: { kind: 'timer', at: from(ms) } }),
          ...{ home: agent.home, tenant: agent.tenant, agent: agent.agent, owner: 'o', trustClass: 'instruction' },
          ids: mintFrom(parts),
        }),
      );
    const lateMs = async (id: string) => {
      const rows = await test.database.sql<{ late: number }[]>`
        select (data ->> 'late_ms')::int as late from foundation.inputs where data ->> 'schedule_id' = ${id}`;
      return rows[0]?.late;
    };
    const told = await add(700);
    wakeups.wake('schedules');
    await expect.poll(() => lateMs(told.id), { timeout: 5_000, interval: 20 }).toBeLessThan(250);
    const untold = await add(300);
    await expect.poll(() => lateMs(untold.id), { timeout: 8_000, interval: 20 }).toBeLessThan(6_000);
    stop.abort();
    await running;
    await wakeups.close();
  });
});
