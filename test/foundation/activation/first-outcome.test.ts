/** BR-57: complete, cancel and crash race for the end of a run; the first that is written stays, everything later is ignored. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type FoundationParts, reapRuns, resolveInputs, startRuns } from '../../../src/foundation/index.js';
import { seededRandom, systemClock } from '../../../src/platform/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';
import { createPuppets, type Puppets } from './puppet-runtime.js';

const rounds = process.env.HEARTH_TEST_LONG === '1' ? 500 : 60;
const random = seededRandom(57);
const clock = systemClock();
let test: TestDatabase;
let world: FoundationWorld;
let puppets: Puppets;
let reaper: FoundationParts;

beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 12 });
  puppets = createPuppets();
  world = openFoundationWorld(test.database, { kinds: puppets.kinds });
  reaper = world.host();
});
afterAll(() => test.drop());

async function complete(runId: string): Promise<void> {
  puppets.live.get(runId)?.({ type: 'run.completed', result: 'done' });
  await Promise.resolve();
}

async function cancel(runId: string): Promise<void> {
  await world.send(
    { kind: 'control', type: 'run.control', target: { run: runId } },
    { control: { verb: 'cancel', authority: 'test' } },
  );
  await resolveInputs(world.parts);
}

/** Its host is taken for dead, while it goes on. */
async function crash(runId: string, home: string): Promise<void> {
  await test.database.sql`
    update foundation.runs set lease_expires_at = hearth_lease_now() - interval '1 second'
     where id = ${runId} and status = 'running'`;
  await test.database.sql`update home.placements set expires_at = hearth_lease_now() where home = ${home}`;
  await reapRuns(reaper);
}

async function race(): Promise<string> {
  const agent = await world.addAgent({ runtimeId: 'rigid' });
  const { home } = agent;
  const input = await world.send({ target: { agent: agent.agent } });
  await resolveInputs(world.parts);
  await startRuns(world.parts);
  const [first] = await world.runs(agent);
  const runId = first?.id ?? '';
  await vi.waitUntil(() => puppets.live.has(runId), { interval: 1 });
  const acts = [() => complete(runId), () => cancel(runId), () => crash(runId, home)];
  await Promise.all(
    acts.map(async (act) => {
      await clock.sleep(random.uniform(0, 12));
      await act();
    }),
  );
  await vi.waitUntil(() => world.parts.live.list().every((run) => run.home !== home), { interval: 1, timeout: 10_000 });
  const [ended] = await world.runs(agent);
  await finishRetries(home);
  await expectOneEnding(home);
  const [seen] = await world.runs(agent);
  expect(seen).toMatchObject({ status: ended?.status, reasonCode: ended?.reasonCode, result: ended?.result });
  const [session] = await test.database.sql`select state from foundation.sessions where home = ${home}`;
  expect(session).toEqual({ state: 'idle' });
  expect((await world.view(input)).dispositions).toMatchObject([{ status: 'consumed' }]);
  return ended?.status ?? '';
}

/** What was taken for dead has another run, which is brought to its end. */
async function finishRetries(home: string): Promise<void> {
  for (;;) {
    const open = await test.database.sql<{ id: string }[]>`
      select id from foundation.runs where home = ${home} and status in ('queued', 'running')`;
    if (open.length === 0) return;
    await startRuns(world.parts);
    for (const { id } of open) await complete(id);
    await clock.sleep(2);
  }
}

/** One final event, the last, and it is the state of the run; what came later is in the audit, or nowhere. */
async function expectOneEnding(home: string): Promise<void> {
  const wrong = await test.database.sql`
    select r.id, r.status, array_agg(e.type order by e.seq) as events
      from foundation.runs r
      join foundation.run_events e on e.home = r.home and e.run_id = r.id
     where r.home = ${home}
     group by r.id, r.status
    having count(*) filter (where e.type in ('run.completed', 'run.failed', 'run.cancelled')) <> 1
        or (array_agg(e.type order by e.seq desc))[1] <> 'run.' || r.status`;
  expect(wrong).toEqual([]);
  const [late] = await test.database.sql<{ ends: number; settledLate: number }[]>`
    select count(*) filter (where action = 'run.end') as ends,
           count(*) filter (where action = 'run.settle' and outcome <> 'ignored') as settled_late
      from foundation.audit_entries
     where home = ${home}`;
  expect(late?.settledLate).toBe(0);
  expect(late?.ends).toBeLessThanOrEqual(1);
}

describe('the first final state stays (BR-57)', () => {
  it(`in ${rounds} races of complete, cancel and crash`, async () => {
    const seen = new Map<string, number>();
    for (let round = 0; round < rounds; round += 1) {
      const status = await race();
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
    // Each wins sometimes, or it was no race.
    expect([...seen.keys()].sort()).toEqual(['cancelled', 'completed', 'failed']);
  }, 600_000);
});
