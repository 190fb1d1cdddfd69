import { describe, expect, it } from 'vitest';
import type { ScheduleRule } from '../../../src/foundation/schedule/schedule.js';
import { dueSlots, firstSlot, slotAt, slotsOf } from '../../../src/foundation/schedule/slots.js';

const cron = (expression: string, zone: string): ScheduleRule => ({ kind: 'cron', cron: expression, zone });
const how = { madeUp: 100, graceMs: 60_000 };

it('F15: a date that never comes has no slot', () => {
  expect(firstSlot(cron('0 0 30 2 *', 'UTC'), new Date('2026-01-01T00:00:00Z'))).toBeUndefined();
});

describe('F15: what is made up for after a standstill is stated', () => {
  const hourly = cron('0 * * * *', 'UTC');
  const slot = slotAt(hourly, new Date('2026-01-01T01:00:00Z'));
  const now = new Date('2026-01-01T05:30:00Z');
  const fired = (catchUp: 'one' | 'none' | 'all', at = now, over = {}) =>
    dueSlots(hourly, slot, { now: at, ...how, ...over, catchUp });

  it('one: exactly one for all that were missed, and it says how many', () => {
    expect(fired('one').firings.map(({ at, missed }) => [at.toISOString(), missed])).toEqual([
      ['2026-01-01T01:00:00.000Z', 4],
    ]);
    expect(fired('one').next?.at.toISOString()).toBe('2026-01-01T06:00:00.000Z');
  });

  it('none: nothing that is late, but what is in time', () => {
    expect(fired('none').firings).toEqual([]);
    expect(fired('none', new Date('2026-01-01T05:00:30Z')).firings.map(({ at }) => at.toISOString())).toEqual([
      '2026-01-01T05:00:00.000Z',
    ]);
  });

  it('all: each, up to a bound of 100, and one more for the rest', () => {
    expect(fired('all').firings).toHaveLength(5);
    const behind = (slots: number) =>
      fired('all', new Date(slot.at.getTime() + (slots - 1) * 3_600_000)).firings.map(({ missed }) => missed);
    expect([behind(100).length, behind(101).length, behind(102).length]).toEqual([100, 101, 101]);
    expect([behind(101).at(-1), behind(102).at(-1)]).toEqual([0, 1]);
    expect(fired('all', now, { madeUp: 5 }).firings.map(({ missed }) => missed)).toEqual([0, 0, 0, 0, 0]);
    expect(fired('all', now, { madeUp: 4 }).firings.map(({ missed }) => missed)).toEqual([0, 0, 0, 0, 0]);
    expect(fired('all', now, { madeUp: 3 }).firings.map(({ missed }) => missed)).toEqual([0, 0, 0, 1]);
  });

  it('a heartbeat keeps to its start, however late it is', () => {
    const rule: ScheduleRule = { kind: 'heartbeat', every_s: 10, from: '2026-01-01T00:00:03.000Z' };
    const due = dueSlots(rule, slotAt(rule, new Date('2026-01-01T00:00:13Z')), {
      now: new Date('2026-01-01T00:00:47Z'),
      ...how,
      catchUp: 'one',
    });
    expect([due.firings[0]?.missed, due.next?.at.toISOString()]).toEqual([3, '2026-01-01T00:00:53.000Z']);
  });

  it('a deadline warns before it and tells its end; when both are over, only the end', () => {
    const rule: ScheduleRule = { kind: 'deadline', at: '2026-01-02T00:00:00Z', lead_s: 3_600 };
    const first = firstSlot(rule, new Date('2026-01-01T00:00:00Z'));
    expect(first).toEqual({ at: new Date('2026-01-01T23:00:00Z'), type: 'deadline.approaching' });
    if (!first) throw new Error('no slot');
    const warned = dueSlots(rule, first, { now: new Date('2026-01-01T23:10:00Z'), ...how, catchUp: 'one' });
    expect([warned.firings[0]?.type, warned.next?.type]).toEqual(['deadline.approaching', 'deadline.reached']);
    const late = dueSlots(rule, first, { now: new Date('2026-01-03T00:00:00Z'), ...how, catchUp: 'one' });
    expect(late).toMatchObject({
      firings: [{ at: new Date('2026-01-02T00:00:00Z'), type: 'deadline.reached', missed: 1 }],
      next: undefined,
    });
    const each = dueSlots(rule, first, { now: new Date('2026-01-03T00:00:00Z'), ...how, catchUp: 'all' });
    expect(each.firings.map(({ type }) => type)).toEqual(['deadline.approaching', 'deadline.reached']);
  });

  it('a deadline of a commitment says so', () => {
    const rule: ScheduleRule = { kind: 'deadline', at: '2026-01-02T00:00:00Z', lead_s: 60, of: 'commitment' };
    const types = [firstSlot(rule, new Date(0))?.type, slotsOf(rule)(new Date('2026-01-01T23:59:30Z'))?.type];
    expect(types).toEqual(['commitment.deadline_approaching', 'commitment.deadline_reached']);
  });

  it('a timer is as late as it is, but with `none` it is passed over', () => {
    const rule: ScheduleRule = { kind: 'timer', at: '2026-01-01T00:00:00Z' };
    const late = (catchUp: 'one' | 'none', at: string) =>
      dueSlots(rule, slotAt(rule, new Date(rule.at)), { now: new Date(at), ...how, catchUp });
    expect(late('one', '2026-02-01T00:00:00Z')).toMatchObject({ firings: [{ missed: 0 }], next: undefined });
    expect(late('none', '2026-01-01T00:01:00Z').firings).toHaveLength(1);
    expect(late('none', '2026-01-01T00:01:01Z')).toMatchObject({ firings: [], next: undefined });
  });

  it('after a long standstill beats are counted exactly and without looking at each, cron slots up to a bound', () => {
    const beat: ScheduleRule = { kind: 'heartbeat', every_s: 1, from: '2026-01-01T00:00:00Z' };
    const [start, now] = [new Date('2026-01-01T00:00:01Z'), new Date('2026-03-01T00:00:00.500Z')];
    for (const catchUp of ['one', 'none', 'all'] as const) {
      const { firings, looked } = dueSlots(beat, slotAt(beat, start), { now, ...how, catchUp });
      const told = firings.reduce((sum, { missed }) => sum + 1 + missed, 0);
      expect([catchUp, told, looked]).toEqual([catchUp, 59 * 86_400, 101]);
    }
    const minutely = cron('* * * * *', 'Europe/Berlin');
    const due = (catchUp: 'one' | 'none') =>
      dueSlots(minutely, slotAt(minutely, new Date('2026-01-01T00:01:00Z')), { now, ...how, catchUp });
    expect(due('one')).toMatchObject({ firings: [{ missed: 999 }], looked: 1_000 });
    expect(due('none').firings.map(({ at }) => at.toISOString())).toEqual(['2026-03-01T00:00:00.000Z']);
  });
});
