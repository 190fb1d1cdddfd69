// Lease time: how fast it runs, whoever beats it, and what it does not follow.
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { countedMs, leaseClock } from '../../../src/foundation/placement/lease-clock.js';
import { placementLimits } from '../../../src/foundation/placement/placement.js';
import { dialledClock } from '../../../src/platform/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';

const { heartbeatMs, ttlMs } = placementLimits;
let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  await test.database.sql`update foundation.lease_clock set at = '2030-01-01T00:00:00Z'`;
});

function host() {
  const clock = dialledClock(new Date());
  return { clock, beat: leaseClock({ db: test.database, clock }).beat };
}

async function passedMs(): Promise<number> {
  const [row] = await test.database.sql<{ ms: number }[]>`
    select (extract(epoch from at - '2030-01-01T00:00:00Z') * 1000)::double precision as ms from foundation.lease_clock`;
  return row?.ms ?? Number.NaN;
}

describe('lease time (F6, F15)', () => {
  it('runs as a living host counts, and stands still without one', async () => {
    const { clock, beat } = host();
    await beat();
    expect(await passedMs()).toBe(0);
    for (let turn = 0; turn < 4; turn += 1) {
      clock.advance(heartbeatMs);
      await beat();
    }
    expect(await passedMs()).toBe(4 * heartbeatMs);
  });

  it('an outage or a sleep of any length counts for less than a heartbeat, so it ends no lease of whoever comes back', async () => {
    const hosts = [host(), host(), host()];
    for (const { beat } of hosts) await beat();
    for (const { clock, beat } of hosts) {
      clock.advance(3_600_000);
      await beat();
    }
    expect(await passedMs()).toBe(heartbeatMs / 2);
    expect(heartbeatMs + heartbeatMs / 2).toBeLessThan(ttlMs / 2);
  });

  it.each([
    [0, 0],
    [2 * heartbeatMs, 2 * heartbeatMs],
    [2 * heartbeatMs + 1, heartbeatMs / 2],
  ])('after %i ms a beat counts %i', (elapsedMs, counted) => {
    expect(countedMs(elapsedMs)).toBe(counted);
  });

  it('never runs faster than any clock, never goes back, and runs on while one host beats in time', async () => {
    const step = fc.record({ host: fc.integer({ min: 0, max: 2 }), ms: fc.integer({ min: 0, max: 3 * heartbeatMs }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
        await test.database.sql`update foundation.lease_clock set at = '2030-01-01T00:00:00Z'`;
        const hosts = [host(), host(), host()];
        for (const { beat } of hosts) await beat();
        let realMs = 0;
        let before = 0;
        for (const { host: index, ms } of steps) {
          for (const { clock } of hosts) clock.advance(ms);
          realMs += ms;
          await hosts[index]?.beat();
          const now = await passedMs();
          expect(now).toBeGreaterThanOrEqual(before);
          expect(now).toBeLessThanOrEqual(realMs);
          before = now;
        }
      }),
      { numRuns: 30 },
    );
  });

  it('does not follow the database’s clock', async () => {
    const { clock, beat } = host();
    await beat();
    await test.database.transact('step', async (tx) => {
      await tx`select set_config('hearth.clock_offset_ms', '28800000', true)`;
      const [row] = await tx`select hearth_lease_now() as at`;
      expect(row?.at).toEqual(new Date('2030-01-01T00:00:00Z'));
    });
    clock.advance(1_000);
    await beat();
    expect(await passedMs()).toBe(1_000);
  });
});
