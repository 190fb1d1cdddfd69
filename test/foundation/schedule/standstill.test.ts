/** What schedules do after a standstill, when the clock of the database was moved, and when one of them is at fault. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AgentDefinition,
  addSchedule,
  type FoundationParts,
  fireSchedules,
  mintFrom,
  msToNextSlot,
  type ScheduleRecord,
  scheduleShape,
  selectSchedule,
} from '../../../src/foundation/index.js';
import { openDatabase, systemClock } from '../../../src/platform/index.js';
import { createTestDatabase, type TestDatabase, testLog } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
let test: TestDatabase;
let world: FoundationWorld;
let agent: AgentDefinition;

beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 12 });
  world = openFoundationWorld(test.database);
});
beforeEach(async () => {
  await test.database
    .sql`update foundation.schedules set status = 'cancelled', next_fire_at = null where status = 'active'`;
  agent = await world.addAgent({});
});
afterAll(() => test.drop());

const from = (ms: number) => new Date(systemClock().now().getTime() + ms).toISOString();

function add(draft: object, parts: FoundationParts = world.parts): Promise<ScheduleRecord> {
  const { home, tenant } = agent;
  const owner = 'human://alpha.test/users/u';
  return parts.db.transact('add', (tx) =>
    addSchedule(tx, {
      draft: scheduleShape.parse(draft),
      ...{ home, tenant, agent: agent.agent, owner, trustClass: 'instruction', ids: mintFrom(parts) },
    }),
  );
}

async function later<T>(ms: number, work: (parts: FoundationParts) => Promise<T>): Promise<T> {
  const options = { applicationName: 'later', maxConnections: 4, clock: systemClock(), log: testLog() };
  const db = openDatabase({ ...options, target: test.target, clockOffsetMs: ms });
  try {
    return await work(world.host({ db }));
  } finally {
    await db.close();
  }
}

/** Until nothing is left that is due. */
async function fireAll(parts: FoundationParts): Promise<number> {
  for (let steps = 1; steps <= 1_000; steps += 1) if ((await fireSchedules(parts)) === 'idle') return steps;
  throw new Error('firing does not come to rest');
}

const slots = (id: string) =>
  test.database.sql<{ slot: string; missed: number }[]>`
    select data ->> 'slot' as slot, (data ->> 'missed')::int as missed
      from foundation.inputs where data ->> 'schedule_id' = ${id} order by 1`;

const stored = (id: string) => selectSchedule(test.database.sql, agent.home, id);

describe('F15: a standstill', () => {
  it('of two months with many schedules for every minute is worked off in short steps, one firing each', async () => {
    const rule = { kind: 'cron', cron: '* * * * *', zone: 'Europe/Berlin' };
    const made = [];
    for (let n = 0; n < 6; n += 1) made.push(await add({ rule }));
    const steps = await later(60 * dayMs, fireAll);
    expect(steps).toBeGreaterThan(2);
    for (const { id } of made) expect((await slots(id)).map(({ missed }) => missed)).toEqual([999]);
  });

  it('with `none` leaves a timer out and goes on with the next slot of a cron', async () => {
    const timer = await add({ rule: { kind: 'timer', at: from(1_000) }, catch_up: 'none' });
    const daily = await add({ rule: { kind: 'cron', cron: '0 12 * * *' }, catch_up: 'none' });
    const at = (daily.nextFireAt?.getTime() ?? 0) - systemClock().now().getTime();
    await later(at + 3 * dayMs + hourMs, fireAll);
    expect([await slots(timer.id), await slots(daily.id)]).toEqual([[], []]);
    expect(await stored(timer.id)).toMatchObject({ status: 'ended', endedReason: 'passed_over', firedCount: 0 });
    expect((await stored(daily.id))?.nextFireAt?.getTime()).toBe((daily.nextFireAt?.getTime() ?? 0) + 4 * dayMs);
  });
});

describe('BR-43: what is set again under its key', () => {
  it('does not fire a second time after its slot is over', async () => {
    const once = { key: 'migrate', rule: { kind: 'timer', at: from(-1_000) } };
    const { id } = await add(once);
    await fireAll(world.parts);
    const again = await add(once);
    await fireAll(world.parts);
    expect([again.id, again.status]).toEqual([id, 'ended']);
    expect(await slots(id)).toHaveLength(1);
  });

  it('fires at another time that is set instead', async () => {
    const { id } = await add({ key: 'again', rule: { kind: 'timer', at: from(-2_000) } });
    await fireAll(world.parts);
    expect(await add({ key: 'again', rule: { kind: 'timer', at: from(-1_000) } })).toMatchObject({
      id,
      status: 'active',
    });
    await fireAll(world.parts);
    expect(await slots(id)).toHaveLength(2);
  });

  it('keeps the beats of a heartbeat where they were', async () => {
    const beat = { key: 'beat', rule: { kind: 'heartbeat', every_s: 3_600 } };
    const first = await add(beat);
    const second = await later(50 * 60_000, (parts) => add(beat, parts));
    expect([second.id, second.nextFireAt]).toEqual([first.id, first.nextFireAt]);
  });

  it('may not take a name that the domain keeps for itself', () => {
    const named = scheduleShape.safeParse({ key: 'expiry:lease', rule: { kind: 'timer', at: from(0) } });
    const forged = scheduleShape.safeParse({ rule: { kind: 'expiry', at: from(0) } });
    expect([named.success, forged.success]).toEqual([false, false]);
  });
});

describe('BR-52: the clock of the database', () => {
  it('8 hours ahead and back again: beats stand still no longer than the step, and no slot comes twice', async () => {
    const beat = await add({ rule: { kind: 'heartbeat', every_s: 60 } });
    const daily = await add({ rule: { kind: 'cron', cron: '* * * * *' } });
    await later(8 * hourMs, fireAll);
    expect((await stored(beat.id))?.nextFireAt?.getTime()).toBeGreaterThan(Date.parse(from(7 * hourMs)));
    await fireAll(world.parts);
    for (const { id } of [beat, daily]) {
      expect((await stored(id))?.nextFireAt?.getTime()).toBeLessThanOrEqual(Date.parse(from(61_000)));
    }
    await later(130_000, fireAll);
    for (const { id } of [beat, daily]) {
      const fired = (await slots(id)).map(({ slot }) => slot);
      expect(fired.length).toBeGreaterThanOrEqual(1);
      expect(new Set(fired).size).toBe(fired.length);
    }
  });

  it('alone says what the first slot is: a process that is 8 hours ahead leaves out none', async () => {
    const clock = systemClock();
    const ahead = world.host({ clock: { ...clock, now: () => new Date(clock.now().getTime() + 8 * hourMs) } });
    const { nextFireAt } = await add({ rule: { kind: 'cron', cron: '* * * * *' } }, ahead);
    expect(nextFireAt?.getTime()).toBeLessThanOrEqual(Date.parse(from(61_000)));
  });

  it('says how long until the next slot, also one 60 days ahead', async () => {
    expect(await msToNextSlot(world.parts)).toBeUndefined();
    await add({ rule: { kind: 'timer', at: from(60 * dayMs) } });
    expect(await msToNextSlot(world.parts)).toBeGreaterThan(59 * dayMs);
    await add({ rule: { kind: 'timer', at: from(-1_000) } });
    expect(await msToNextSlot(world.parts)).toBeLessThan(0);
  });
});

describe('a schedule at fault', () => {
  it('ends, is told in the audit, and holds up no other', async () => {
    const [unreadable, refused, sound] = [
      await add({ rule: { kind: 'timer', at: from(-3_000) } }),
      await add({ rule: { kind: 'timer', at: from(-2_000) } }),
      await add({ rule: { kind: 'timer', at: from(-1_000) } }),
    ];
    const zone = { kind: 'cron', cron: '* * * * *', zone: 'Mars/Olympus' };
    const deep = JSON.parse(`${'['.repeat(30)}${']'.repeat(30)}`);
    const { sql } = test.database;
    await sql`update foundation.schedules set rule = ${sql.json(zone)} where id = ${unreadable.id}`;
    await sql`update foundation.schedules set data = ${sql.json(deep)} where id = ${refused.id}`;
    await fireAll(world.parts);
    expect([await slots(unreadable.id), await slots(refused.id)]).toEqual([[], []]);
    expect(await slots(sound.id)).toHaveLength(1);
    expect((await stored(unreadable.id))?.endedReason).toBe('rule_unreadable');
    expect((await stored(refused.id))?.endedReason).toBe('input_refused');
    const told = await sql<{ outcome: string }[]>`
      select outcome from foundation.audit_entries where object = any(${[unreadable.id, refused.id]}) order by 1`;
    expect(told.map(({ outcome }) => outcome)).toEqual(['input_refused', 'rule_unreadable']);
  });

  it('is refused before: data may be nested as deep as an input takes it, and no deeper', async () => {
    const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
    const due = { rule: { kind: 'timer', at: from(-1_000) } };
    const { id } = await add({ ...due, data: nested(23) });
    await expect(add({ ...due, data: nested(24) })).rejects.toThrow(/nested deeper/);
    await fireAll(world.parts);
    expect(await slots(id)).toHaveLength(1);
  });

  it('is refused before: a session must be one of the agent', async () => {
    const session = `ses_${agent.home}_01jd0000000000000000000000`;
    await expect(add({ rule: { kind: 'timer', at: from(0) }, session })).rejects.toThrow(/no such session/);
  });
});
