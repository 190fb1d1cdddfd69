import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reapRuns, replaySuspensions, resolveInputs, startRuns } from '../../../src/foundation/index.js';
import { seededRandom, systemClock } from '../../../src/platform/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, Killed, killedAt, openFoundationWorld } from '../../support/foundation-world.js';

const rounds = process.env.HEARTH_TEST_LONG ? 10_000 : 150;
const clock = systemClock();
let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 12 });
});
afterAll(() => test.drop());

const script = {
  rules: [
    {
      when: { type: 'race.start' },
      steps: [
        { say: 'before' },
        { propose: { id: 'effect', action: 'count.once', target: 'x' } },
        { suspend: { reason: 'race', until: [{ type: 'race.answer', subject: '{{/activation/subject/resource}}' }] } },
        { complete: { answer: { $ref: '/activation/data' } } },
      ],
    },
    { when: { type: 'race.*' }, steps: [{ complete: 'not the continuation' }] },
  ],
};

/** One wait and its answers, at a seeded moment around its commit; the driving process may be killed at any commit. */
async function playRound(world: FoundationWorld, round: number): Promise<void> {
  const random = seededRandom(round);
  const chance = (likely: number) => random.uniform(0, 1) < likely;
  const agent = await world.addAgent({ script });
  const subject = { resource: `race:${round}-${agent.home}` };
  const answers = chance(0.3) ? 2 : 1;
  const targeted = chance(0.4);
  const killed = chance(0.6);
  const at = { transaction: 1 + Math.floor(random.uniform(0, 12)), moment: chance(0.5) ? 'before' : 'after' } as const;
  const driver = world.host(killed ? { db: killedAt(test.database, at) } : {});

  const answersAt = Array.from({ length: answers }, () => random.uniform(-2, 28));
  const target = { agent: agent.agent };
  await world.send({ type: 'race.start', target, subject });
  const answered = answersAt.map(async (ms, index) => {
    await clock.sleep(Math.max(0, ms));
    const kind = targeted ? 'command' : 'event';
    return world.send({ kind, type: 'race.answer', subject, data: index, ...(targeted ? { target } : {}) });
  });
  // The start is in the log before any answer, as it is when an answer follows from what the run did.
  await resolveInputs(world.parts);
  await Promise.all([drive(driver), drive(world.parts, false), ...answered]);
  await Promise.all([driver.live.idle(), world.parts.live.idle()]);
  await finish(world);

  const runs = await world.runs(agent);
  const suspended = runs.filter(({ status }) => status === 'suspended');
  const continuations = runs.filter(
    ({ resumedFromRunId, retryOfRunId }) => resumedFromRunId !== null && retryOfRunId === null,
  );
  const completed = runs.filter(({ resumedFromRunId, status }) => resumedFromRunId !== null && status === 'completed');
  const trail = JSON.stringify({
    round,
    killed,
    at,
    targeted,
    answersAt,
    runs: runs.map(({ status, reasonCode }) => [status, reasonCode]),
  });
  expect(suspended.length, trail).toBe(1);
  expect(continuations.length, trail).toBe(1);
  expect(completed.length, trail).toBe(1);
  const others = runs.filter(({ status, result }) => status === 'completed' && result === 'not the continuation');
  // A second command to the same agent is work of its own; the one that answered is not taken twice.
  expect(others.length, trail).toBe(targeted ? answers - 1 : 0);
  expect(
    runs.every(({ endedAt }) => endedAt !== null),
    trail,
  ).toBe(true);
}

/** The loops of one process, until it has been quiet for a while or is dead. */
async function drive(parts: FoundationWorld['parts'], starts = true): Promise<void> {
  try {
    for (let turn = 0; turn < 12; turn += 1) {
      await resolveInputs(parts);
      if (starts) await startRuns(parts);
      await replaySuspensions(parts);
      await clock.sleep(3);
    }
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}

async function finish(world: FoundationWorld): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await world.expire();
    await reapRuns(world.parts);
    await world.settle();
  }
}

describe('F14, BR-40: an answer around the commit of a wait', () => {
  it(
    `continues it exactly once, in ${rounds} seeded rounds with kills of the driving process`,
    async () => {
      const world = openFoundationWorld(test.database);
      for (let round = 0; round < rounds; round += 1) await playRound(world, round);
      // F12: however often a run was attempted, its effect was dispatched once.
      expect([...world.dispatched.values()].every((count) => count === 1)).toBe(true);
      expect(world.dispatched.size).toBe(rounds);
      const [left] = await test.database.sql`
      select (select count(*) from foundation.candidates where status in ('queued', 'running')) as open,
             (select count(*) from foundation.sessions where state <> 'idle') as busy,
             (select count(*) from foundation.suspensions where status = 'open') as waiting`;
      expect(left).toEqual({ open: 0, busy: 0, waiting: 0 });
    },
    6 * 3_600_000,
  );
});
