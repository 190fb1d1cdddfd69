// Waits of every policy against their answers and their expiry, before, during and after the commits, with kills at commits.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AgentDefinition,
  expireSuspensions,
  reapRuns,
  replaySuspensions,
  resolveInputs,
  startRuns,
} from '../../../src/foundation/index.js';
import { seededRandom, systemClock } from '../../../src/platform/index.js';
import type { JsonObject } from '../../../src/protocol/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, Killed, killedAt, openFoundationWorld } from '../../support/foundation-world.js';

const rounds = process.env.HEARTH_TEST_LONG ? 10_000 : 80;
const firstSeed = 14_000;
const clock = systemClock();
let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 12 });
});
afterAll(() => test.drop());

interface Part {
  type: string;
  repeat: number;
}

interface Terms {
  parts: Part[];
  resume: 'first_match' | 'all' | { any: number };
  expiresInMs: number | undefined;
}

type Chance = (likely: number) => boolean;

function termsOf(chance: Chance, upTo: (most: number) => number): Terms {
  const parts = Array.from({ length: 1 + upTo(3) }, (_, index) => ({
    type: `race.answer${index}`,
    repeat: chance(0.3) ? 2 : 1,
  }));
  const resume = chance(0.3) ? 'first_match' : chance(0.5) ? 'all' : { any: 1 + upTo(parts.length) };
  return { parts, resume, expiresInMs: chance(0.5) ? upTo(25) : undefined };
}

function scriptOf({ parts, resume, expiresInMs }: Terms): JsonObject {
  const until = parts.map(({ type, repeat }) => ({ type, repeat, subject: '{{/activation/subject/resource}}' }));
  const expires = expiresInMs === undefined ? {} : { expires: { in_ms: expiresInMs } };
  return {
    rules: [
      {
        when: { type: 'race.start' },
        steps: [
          { propose: { id: 'effect', action: 'count.once', target: 'x' } },
          { suspend: { reason: 'race', until, resume, ...expires } },
          { complete: { inputs: { $ref: '/inputs' } } },
        ],
      },
    ],
  };
}

/** By the inputs that a continuation was shown: what a naive reader of the policy says of them. */
function isEnough({ parts, resume }: Terms, types: readonly string[]): boolean {
  const done = parts.filter(({ type, repeat }) => types.filter((each) => each === type).length >= repeat).length;
  return done >= (resume === 'first_match' ? 1 : resume === 'all' ? parts.length : resume.any);
}

async function playRound(world: FoundationWorld, seed: number): Promise<{ mayExpire: boolean; killed: boolean }> {
  const random = seededRandom(seed);
  const chance: Chance = (likely) => random.uniform(0, 1) < likely;
  const upTo = (most: number) => Math.floor(random.uniform(0, most));
  const terms = termsOf(chance, upTo);
  const agent = await world.addAgent({ script: scriptOf(terms) });
  const subject = { resource: `race:${agent.home}` };
  const killed = chance(0.6);
  const at = { transaction: 1 + upTo(14), moment: chance(0.5) ? 'before' : 'after' } as const;
  const driver = world.host(killed ? { db: killedAt(test.database, at) } : {});
  const answers = terms.parts.flatMap(({ type, repeat }) => Array.from({ length: repeat + upTo(2) }, () => type));
  const moments = answers.map(() => random.uniform(-2, 70));

  await world.send({ type: 'race.start', target: { agent: agent.agent }, subject });
  // The start is in the log before any answer, as it is when an answer follows from what the run did.
  await resolveInputs(world.parts);
  const answered = answers.map(async (type, index) => {
    await clock.sleep(Math.max(0, moments[index] ?? 0));
    const event = `${agent.home}-${type}-${index}`;
    const send = (home: string) => world.send({ kind: 'event', type, subject, source_event_id: event }, { home });
    await send('doorhome1');
    // The same event by another door counts once.
    if (chance(0.2)) await send('doorhome2');
  });
  await Promise.all([drive(driver), drive(world.parts, false), ...answered]);
  await Promise.all([driver.live.idle(), world.parts.live.idle()]);
  await finish(world, agent);

  const runs = await world.runs(agent);
  const trail = JSON.stringify({
    seed,
    terms,
    answers,
    moments,
    killed,
    at,
    runs: runs.map(({ status, reasonCode }) => [status, reasonCode]),
  });
  const continuations = runs.filter((run) => run.resumedFromRunId !== null && run.retryOfRunId === null);
  const completed = runs.filter((run) => run.resumedFromRunId !== null && run.status === 'completed');
  expect(runs.filter(({ status }) => status === 'suspended').length, trail).toBe(1);
  expect(continuations.length, trail).toBe(1);
  expect(completed.length, trail).toBe(1);
  expect(
    runs.every(({ endedAt }) => endedAt !== null),
    trail,
  ).toBe(true);
  const { inputs } = (completed[0]?.result ?? { inputs: [] }) as { inputs: { type: string }[] };
  const types = inputs.map(({ type }) => type);
  const expired = types.at(-1) === 'suspension.expired';
  // First wins: either its time was over and it was short of something, or it had enough, and not before the last.
  expect(isEnough(terms, types), trail).toBe(!expired);
  if (!expired) expect(isEnough(terms, types.slice(0, -1)), trail).toBe(false);
  return { mayExpire: terms.expiresInMs !== undefined, killed };
}

/** The loops of one process, until it has been quiet for a while or is dead. */
async function drive(parts: FoundationWorld['parts'], starts = true): Promise<void> {
  try {
    for (let turn = 0; turn < 20; turn += 1) {
      await resolveInputs(parts);
      if (starts) await startRuns(parts);
      await replaySuspensions(parts);
      await expireSuspensions(parts);
      await clock.sleep(3);
    }
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}

async function finish(world: FoundationWorld, { home }: AgentDefinition): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await world.expire();
    await reapRuns(world.parts);
    await world.settle();
  }
  // Whatever still waits has all the answers that it will get.
  await test.database.sql`
    update foundation.suspensions set due_at = hearth_now() where home = ${home} and status = 'open' and expired_by is null`;
  await world.settle();
  await world.settle();
}

describe('F14, BR-40: answers and expiry around the commit of a wait of any policy', () => {
  it(
    `continue it exactly once, in ${rounds} seeded rounds with kills of the driving process`,
    async () => {
      const world = openFoundationWorld(test.database);
      const seen = { mayExpire: 0, killed: 0 };
      for (let round = 0; round < rounds; round += 1) {
        const { mayExpire, killed } = await playRound(world, firstSeed + round);
        seen.mayExpire += mayExpire ? 1 : 0;
        seen.killed += killed ? 1 : 0;
      }
      // Whether one does expire is a matter of how fast the machine is.
      expect(seen.mayExpire).toBeGreaterThan(0);
      expect(seen.killed).toBeGreaterThan(0);
      expect([...world.dispatched.values()].every((count) => count === 1)).toBe(true);
      const [left] = await test.database.sql`
      select (select count(*) from foundation.candidates where status in ('queued', 'running')) as open,
             (select count(*) from foundation.sessions where state <> 'idle') as busy,
             (select count(*) from foundation.suspensions where status = 'open') as waiting`;
      expect(left).toEqual({ open: 0, busy: 0, waiting: 0 });
    },
    6 * 3_600_000,
  );
});
