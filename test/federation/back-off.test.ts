import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jitterFrom, jitterTo, nextAttempt, readRetryAfter } from '../../src/federation/index.js';

const minute = 60_000;
const facts = fc.record({
  failures: fc.integer({ min: 1, max: 10_000 }),
  failingForMs: fc.integer({ min: 0, max: 6 * 24 * 60 * minute }),
  jitter: fc.double({ min: jitterFrom, max: jitterTo, maxExcluded: true, noNaN: true }),
});

describe('the wait before the next attempt', () => {
  it('starts at 1 s and doubles, with the jitter', () => {
    const waits = [1, 2, 3, 4].map((failures) => nextAttempt({ failures, failingForMs: 0, jitter: 1 }));
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(nextAttempt({ failures: 1, failingForMs: 0, jitter: 0.8 })).toBe(800);
  });

  it('never passes 60 s in the first five minutes, nor an hour later, jitter included', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const wait = nextAttempt(given);
        return wait >= 800 && wait <= (given.failingForMs < 5 * minute ? minute : 60 * minute);
      }),
      { seed: 11 },
    );
    expect(nextAttempt({ failures: 40, failingForMs: 5 * minute - 1, jitter: 1.3 })).toBe(minute);
    expect(nextAttempt({ failures: 40, failingForMs: 5 * minute, jitter: 1.3 })).toBe(60 * minute);
  });

  it('is at least what the peer asked for, up to a day', () => {
    fc.assert(
      fc.property(facts, fc.integer({ min: 0, max: 10 * 24 * 60 * minute }), (given, retryAfterMs) => {
        const wait = nextAttempt({ ...given, retryAfterMs });
        return wait >= Math.min(retryAfterMs, 24 * 60 * minute) && wait <= 24 * 60 * minute;
      }),
      { seed: 12 },
    );
  });

  it('reads Retry-After as seconds or a date, and nothing else', () => {
    const clock = { now: () => new Date('2026-01-01T00:00:00.000Z') };
    expect(readRetryAfter('120', clock)).toBe(120_000);
    expect(readRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', clock)).toBe(30_000);
    expect(readRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', clock)).toBe(0);
    expect(readRetryAfter('soon', clock)).toBeUndefined();
    expect(readRetryAfter(undefined, clock)).toBeUndefined();
  });
});
