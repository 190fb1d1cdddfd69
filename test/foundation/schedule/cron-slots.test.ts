import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cronSlots } from '../../../src/foundation/schedule/cron-slots.js';

const berlin = 'Europe/Berlin';

function slotsFrom([cron, zone]: readonly [string, string], from: string, count: number): string[] {
  const next = cronSlots({ cron, zone });
  const found: string[] = [];
  for (let at = next(new Date(from)); at && found.length < count; at = next(at)) found.push(at.toISOString());
  return found.map((at) => at.slice(0, 16));
}

describe('F15: cron follows the local time of its zone', () => {
  it.each([
    ['one time of day', '30 2 * * *', ['2026-03-29T01:00', '2026-03-30T00:30']],
    ['several in the gap', '*/15 2 * * *', ['2026-03-29T01:00', '2026-03-30T00:00', '2026-03-30T00:15']],
    ['in and behind the gap', '0,30 2,3 * * *', ['2026-03-29T01:00', '2026-03-29T01:30', '2026-03-30T00:00']],
  ])('a local time that the clock change leaves out is the first instant after the gap, once: %s', (_, cron, slots) => {
    expect(slotsFrom([cron, berlin], '2026-03-28T12:00:00Z', slots.length)).toEqual(slots);
  });

  it.each([
    ['one time of day', '30 2 * * *', ['2026-10-25T00:30', '2026-10-26T01:30']],
    ['several', '*/20 2 * * *', ['2026-10-25T00:00', '2026-10-25T00:20', '2026-10-25T00:40', '2026-10-26T01:00']],
    [
      'in and behind the repeated hour',
      '0,30 2,3 * * *',
      ['2026-10-25T00:00', '2026-10-25T00:30', '2026-10-25T02:00', '2026-10-25T02:30', '2026-10-26T01:00'],
    ],
  ])('a local time that comes twice is the first of the two, once: %s', (_, cron, slots) => {
    expect(slotsFrom([cron, berlin], '2026-10-24T12:00:00Z', slots.length)).toEqual(slots);
  });

  it('asked within the repeated hour, it is the next day', () => {
    expect(slotsFrom(['30 2 * * *', berlin], '2026-10-25T00:45:00Z', 1)).toEqual(['2026-10-26T01:30']);
    expect(slotsFrom(['30 2 * * *', berlin], '2026-10-25T01:10:00Z', 1)).toEqual(['2026-10-26T01:30']);
  });

  it('what is for every hour goes on through both changes', () => {
    expect(slotsFrom(['*/30 * * * *', berlin], '2026-10-25T00:00:00Z', 5)).toEqual(
      ['00:30', '01:00', '01:30', '02:00', '02:30'].map((time) => `2026-10-25T${time}`),
    );
    expect(slotsFrom(['15 * * * *', berlin], '2026-03-28T23:30:00Z', 3)).toEqual(
      ['00:15', '01:15', '02:15'].map((time) => `2026-03-29T${time}`),
    );
  });

  it.each([
    [
      'a gap at midnight',
      '0 0 * * *',
      'Africa/Cairo',
      '2026-04-23T12:00:00Z',
      ['2026-04-23T22:00', '2026-04-24T21:00'],
    ],
    ['a gap of half an hour', '15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', ['2026-10-03T15:30']],
    [
      'a day that the zone leaves out',
      '0 9 * * *',
      'Pacific/Apia',
      '2011-12-29T12:00:00Z',
      ['2011-12-29T19:00', '2011-12-30T10:00', '2011-12-30T19:00'],
    ],
    [
      'a zone without changes',
      '30 2 * * *',
      'Asia/Kolkata',
      '2026-03-28T12:00:00Z',
      ['2026-03-28T21:00', '2026-03-29T21:00'],
    ],
    ['UTC', '0 0 29 2 *', 'UTC', '2026-03-28T12:00:00Z', ['2028-02-29T00:00']],
  ])('%s', (_, cron, zone, from, slots) => {
    expect(slotsFrom([cron, zone], from, slots.length)).toEqual(slots);
  });

  it('slots only ever grow, and each lies where its zone shows a matching minute or right behind a gap', () => {
    const minute = fc.constantFrom('*', '*/7', '0', '15,45', '59');
    const hour = fc.constantFrom('*', '*/2', '0', '1-3', '2', '23');
    const zone = fc.constantFrom(
      'UTC',
      berlin,
      'America/New_York',
      'America/Santiago',
      'Australia/Lord_Howe',
      'Asia/Tehran',
    );
    const from = fc.constantFrom(
      '2026-03-07',
      '2026-03-28',
      '2026-04-04',
      '2026-09-05',
      '2026-10-03',
      '2026-10-24',
      '2026-10-31',
    );
    fc.assert(
      fc.property(minute, hour, zone, from, fc.integer({ min: 0, max: 2 * 24 * 60 }), (m, h, tz, day, offset) => {
        const next = cronSlots({ cron: `${m} ${h} * * *`, zone: tz });
        let at = new Date(Date.parse(`${day}T00:00:00Z`) + offset * 60_000);
        for (let n = 0; n < 12; n += 1) {
          const found = next(at);
          if (!found || found <= at) throw new Error(`${found?.toISOString()} after ${at.toISOString()}`);
          // Nothing lies between: from a moment later the same slot is found.
          const later = new Date(at.getTime() + Math.floor((found.getTime() - at.getTime()) / 2));
          expect(next(later)).toEqual(found);
          if (h === '*') expect(found.getTime() - at.getTime()).toBeLessThanOrEqual(90 * 60_000);
          at = found;
        }
      }),
      { seed: 15, numRuns: 300 },
    );
  });

  it.each([
    ['* * * *', 'UTC', 'five fields'],
    ['0 * * * * *', 'UTC', 'five fields'],
    ['@daily', 'UTC', 'five fields'],
    ['61 * * * *', 'UTC', 'cannot be read'],
    ['0 9 * * *', 'Mars/Olympus', 'time zone'],
  ])('%j in %s is refused', (cron, zone, said) => {
    expect(() => cronSlots({ cron, zone })).toThrow(new RegExp(said));
  });
});
