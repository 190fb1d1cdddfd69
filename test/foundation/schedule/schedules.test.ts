import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AgentDefinition,
  addSchedule,
  cancelSchedule,
  type FoundationParts,
  fireSchedules,
  mintFrom,
  scheduleLimits,
  scheduleShape,
  selectSchedule,
  stopWatching,
  watchExpiry,
} from '../../../src/foundation/index.js';
import { type Database, openDatabase, systemClock } from '../../../src/platform/index.js';
import { createTestDatabase, type TestDatabase, testLog } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

const dayMs = 24 * 3_600_000;
const script = {
  rules: [{ when: { type: 'timer.expired' }, steps: [{ complete: { $ref: '/activation/data/data' } }] }],
};

let test: TestDatabase;
let world: FoundationWorld;
let agent: AgentDefinition;

beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 12 });
  world = openFoundationWorld(test.database);
});
afterAll(() => test.drop());

const fresh = async () => {
  agent = await world.addAgent({ script });
  return agent;
};
const from = (ms: number) => new Date(Date.parse(systemClock().now().toISOString()) + ms).toISOString();

function add(draft: object, parts: FoundationParts = world.parts) {
  return parts.db.transact('add', (tx) =>
    addSchedule(tx, {
      draft: scheduleShape.parse(draft),
      home: agent.home,
      tenant: agent.tenant,
      agent: agent.agent,
      owner: 'human://alpha.test/users/u',
      trustClass: 'instruction',
      ids: mintFrom(parts),
    }),
  );
}

/** The database as it stands so much later; its clock is the only one that counts. */
async function later<T>(ms: number, work: (parts: FoundationParts) => Promise<T>): Promise<T> {
  const options = { applicationName: 'later', maxConnections: 4, clock: systemClock(), log: testLog() };
  const db: Database = openDatabase({ ...options, target: test.target, clockOffsetMs: ms });
  try {
    return await work(world.host({ db }));
  } finally {
    await db.close();
  }
}

const slots = async (id: string) =>
  (
    await test.database.sql<{ type: string; slot: string; missed: number }[]>`
      select type, data ->> 'slot' as slot, (data ->> 'missed')::int as missed
        from foundation.inputs where data ->> 'schedule_id' = ${id} order by received_at, id`
  ).map(({ type, slot, missed }) => ({ type, slot, missed }));

describe('F15: time as inputs', () => {
  it('a timer fires once, wakes its agent with what it carries, and is over', async () => {
    await fresh();
    const { id } = await add({ rule: { kind: 'timer', at: from(-1_000) }, subject: 'invoice:1', data: { due: true } });
    await fireSchedules(world.parts);
    await fireSchedules(world.parts);
    expect(await slots(id)).toHaveLength(1);
    expect(await selectSchedule(test.database.sql, agent.home, id)).toMatchObject({ status: 'ended', firedCount: 1 });
    await world.settle();
    expect((await world.runs(agent)).map(({ status, result }) => [status, result])).toEqual([
      ['completed', { due: true }],
    ]);
  });

  it('each slot once over three firers that race for 500 schedules', async () => {
    await fresh();
    const made = await Promise.all(
      Array.from({ length: 500 }, (_, n) => add({ rule: { kind: 'timer', at: from(-n) } })),
    );
    const firers = [world.parts, world.host(), world.host()];
    await Promise.all(firers.flatMap((parts) => Array.from({ length: 4 }, () => fireSchedules(parts))));
    for (const { id } of made) expect(await slots(id)).toHaveLength(1);
  });

  it('60 days ahead: nothing before, the slot at its time', async () => {
    await fresh();
    const at = from(60 * dayMs);
    const { id } = await add({ rule: { kind: 'timer', at } });
    await later(59 * dayMs, fireSchedules);
    expect(await slots(id)).toEqual([]);
    await later(61 * dayMs, fireSchedules);
    expect(await slots(id)).toEqual([{ type: 'timer.expired', slot: at, missed: 0 }]);
  });

  it('BR-43: a slot that has run is not run again after a restart, a missed one exactly once', async () => {
    await fresh();
    const { id, nextFireAt } = await add({ rule: { kind: 'cron', cron: '0 22 * * *' } });
    const first = (nextFireAt?.getTime() ?? 0) - systemClock().now().getTime();
    await later(first + 60_000, fireSchedules);
    await later(first + 30 * 60_000, fireSchedules);
    expect(await slots(id)).toHaveLength(1);
    await later(first + 3 * dayMs + 60_000, fireSchedules);
    await later(first + 3 * dayMs + 120_000, fireSchedules);
    expect((await slots(id)).map(({ missed }) => missed)).toEqual([0, 2]);
  });

  it('BR-43: an upgrade step that runs twice under one key leaves one schedule, and a changed rule takes its place', async () => {
    await fresh();
    const daily = { key: 'morning', rule: { kind: 'cron', cron: '0 9 * * *', zone: 'Europe/Berlin' } };
    const [one, two] = [await add(daily), await add(daily)];
    expect(two.id).toBe(one.id);
    const changed = await add({ ...daily, rule: { kind: 'cron', cron: '0 10 * * *', zone: 'Europe/Berlin' } });
    expect(changed.id).toBe(one.id);
    expect(changed.nextFireAt).not.toEqual(one.nextFireAt);
  });

  it('BR-52: a process whose clock is 8 hours ahead or behind fires nothing early and nothing late', async () => {
    await fresh();
    const soon = await add({ rule: { kind: 'timer', at: from(3_600_000) } });
    const due = await add({ rule: { kind: 'timer', at: from(-1_000) } });
    const skewed = (ms: number) => {
      const clock = systemClock();
      return world.host({ clock: { ...clock, now: () => new Date(clock.now().getTime() + ms) } });
    };
    await fireSchedules(skewed(8 * 3_600_000));
    await fireSchedules(skewed(-8 * 3_600_000));
    expect([await slots(soon.id), (await slots(due.id)).length]).toEqual([[], 1]);
  });

  it('a heartbeat beats on, and a cancelled one no more', async () => {
    await fresh();
    const { id } = await add({ rule: { kind: 'heartbeat', every_s: 1 } });
    await later(1_500, fireSchedules);
    await later(2_500, fireSchedules);
    expect(await slots(id)).toHaveLength(2);
    expect(await test.database.transact('cancel', (tx) => cancelSchedule(tx, { home: agent.home, id }))).toBe(true);
    expect(await test.database.transact('cancel', (tx) => cancelSchedule(tx, { home: agent.home, id }))).toBe(false);
    await later(9_500, fireSchedules);
    expect(await slots(id)).toHaveLength(2);
  });

  it('what expires tells of it before and at its end; watched again it moves, let go it is silent', async () => {
    await fresh();
    const watch = (subject: string, ms: number) =>
      test.database.transact('watch', (tx) =>
        watchExpiry(tx, {
          home: agent.home,
          tenant: agent.tenant,
          subject,
          expiresAt: new Date(from(ms)),
          leadMs: 60_000,
          ids: mintFrom(world.parts),
        }),
      );
    const told = (subject: string) =>
      test.database.sql<{ type: string }[]>`
        select type from foundation.inputs where subject ->> 'resource' = ${subject} order by received_at`;
    const [kept, moved, gone] = ['lease:kept', 'lease:moved', 'lease:gone'].map((name) => `${name}-${agent.home}`);
    for (const subject of [kept, moved, gone]) await watch(subject ?? '', 120_000);
    await watch(moved ?? '', 10 * dayMs);
    await test.database.transact('stop', (tx) => stopWatching(tx, { home: agent.home, subject: gone ?? '' }));
    await later(70_000, fireSchedules);
    await later(130_000, fireSchedules);
    expect((await told(kept ?? '')).map(({ type }) => type)).toEqual(['lease.expiring', 'lease.expired']);
    expect([await told(moved ?? ''), await told(gone ?? '')].map((rows) => rows.length)).toEqual([0, 0]);
  });

  it('a crash before the commit leaves a slot due, one after it leaves it fired', async () => {
    await fresh();
    const { id } = await add({ rule: { kind: 'timer', at: from(-1_000) } });
    const broken: Database = {
      ...test.database,
      transact: (name, work) =>
        test.database.transact(name, async (tx) => {
          await work(tx);
          throw new Error('killed');
        }),
    };
    await expect(fireSchedules(world.host({ db: broken }))).rejects.toThrow('killed');
    expect(await slots(id)).toEqual([]);
    await fireSchedules(world.parts);
    await fireSchedules(world.parts);
    expect(await slots(id)).toHaveLength(1);
  });

  it('an agent has so many schedules and not one more, and data up to its limit', async () => {
    await fresh();
    await test.database.sql`
      insert into foundation.schedules (home, id, tenant, owner, trust_class, kind, rule, deliver, catch_up, status, next_fire_at)
      select ${agent.home}, 'sch_fill_' || n, 'default', 'o', 'instruction', 'timer', '{"kind":"timer","at":"2099-01-01T00:00:00Z"}',
             'command', 'one', 'active', '2099-01-01'
        from generate_series(1, ${scheduleLimits.perAgent - 1}::int) n`;
    const far = { rule: { kind: 'timer', at: from(dayMs) } };
    const data = (bytes: number) => 'x'.repeat(bytes - 2);
    await expect(add({ ...far, data: data(scheduleLimits.dataBytes + 1) })).rejects.toThrow(/larger than/);
    await add({ ...far, key: 'last', data: data(scheduleLimits.dataBytes) });
    await expect(add(far)).rejects.toThrow(/may have 1000/);
    // What is only changed takes no new place.
    await add({ ...far, key: 'last' });
  });

  it('BR-68: a session of another agent is refused as one that is not there', async () => {
    const other = await fresh();
    await fresh();
    const rule = { kind: 'timer', at: from(dayMs) };
    const sessionOf = async ({ home, tenant, agent }: AgentDefinition) => {
      const id = `ses_${home}_${'0'.repeat(26)}`;
      await test.database.sql`
        insert into foundation.sessions (home, id, tenant, agent, state, runtime_id, runtime_version)
        values (${home}, ${id}, ${tenant}, ${agent}, 'idle', 'r', '1')`;
      return id;
    };
    await expect(add({ rule, session: await sessionOf(other) })).rejects.toThrow(/no such session/);
    await expect(add({ rule, session: await sessionOf(agent) })).resolves.toMatchObject({ status: 'active' });
  });

  it('what never comes, or comes in more than ten years, is refused', async () => {
    await fresh();
    await expect(add({ rule: { kind: 'cron', cron: '0 0 30 2 *' } })).rejects.toThrow(/no slot/);
    await expect(add({ rule: { kind: 'timer', at: from(scheduleLimits.horizonMs + dayMs) } })).rejects.toThrow(
      /ten years/,
    );
  });
});
