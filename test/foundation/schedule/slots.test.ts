import { describe, expect, it } from 'vitest';
import type { ScheduleRule } from '../../../src/foundation/schedule/schedule.js';
import { dueSlots, firstSlot, parseCron, slotAfter, slotAt } from '../../../src/foundation/schedule/slots.js';

const cron = (expression: string, zone: string): ScheduleRule => ({ kind: 'cron', cron: expression, zone });
const how = { madeUp: 100, graceMs: 60_000 };

function slotsFrom(rule: ScheduleRule, from: string, count: number): string[] {
  const found: string[] = [];
  let at = new Date(from);
  for (let n = 0; n < count; n += 1) {
    const next = slotAfter(rule, at);
    if (!next) break;
    found.push(next.at.toISOString());
    at = next.at;
  }
  return found;
}

describe('F15: cron follows the local time of its zone', () => {
  it('a local time that the clock change leaves out is the first instant after the gap, once', () => {
    expect(slotsFrom(cron('30 2 * * *', 'Europe/Berlin'), '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
  });

  it('a local time that comes twice is the first of the two, once', () => {
    expect(slotsFrom(cron('30 2 * * *', 'Europe/Berlin'), '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  it('what repeats within the hour goes on through both changes', () => {
    expect(slotsFrom(cron('*/30 * * * *', 'Europe/Berlin'), '2026-10-25T00:00:00Z', 4)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-25T02:00:00.000Z',
    ]);
    expect(slotsFrom(cron('*/30 * * * *', 'Europe/Berlin'), '2026-03-29T00:00:00Z', 3)).toEqual([
      '2026-03-29T00:30:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T01:30:00.000Z',
    ]);
  });

  it('a zone without changes has none', () => {
    expect(slotsFrom(cron('30 2 * * *', 'Asia/Kolkata'), '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-28T21:00:00.000Z',
      '2026-03-29T21:00:00.000Z',
    ]);
  });

  it.each([
    ['* * * *', 'UTC', 'five fields'],
    ['0 * * * * *', 'UTC', 'five fields'],
    ['61 * * * *', 'UTC', 'cannot be read'],
    ['0 9 * * *', 'Mars/Olympus', 'time zone'],
  ])('%j in %s is refused', (expression, zone, said) => {
    expect(() => parseCron({ cron: expression, zone })).toThrow(new RegExp(said));
  });

  it('a date that never comes has no slot', () => {
    expect(firstSlot(cron('0 0 30 2 *', 'UTC'), new Date('2026-01-01T00:00:00Z'))).toBeUndefined();
  });
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

  it('all: each, up to a bound, and one more for the rest', () => {
    expect(fired('all').firings).toHaveLength(5);
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
    expect(late).toEqual({
      firings: [{ at: new Date('2026-01-02T00:00:00Z'), type: 'deadline.reached', missed: 1 }],
      next: undefined,
    });
  });
});
