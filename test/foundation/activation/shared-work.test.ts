// How hosts on one database share agents, and what becomes of work that no host drives.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  agentsToGive,
  createFoundation,
  type FoundationParts,
  keepLeases,
  placementLimits,
  reapRuns,
  resolveInputs,
  sharePlacements,
  startRuns,
} from '../../../src/foundation/index.js';
import { createWakeups } from '../../../src/platform/index.js';
import { type FoundationLoops, startFoundationLoops } from '../../../src/workers/index.js';
import { createTestDatabase, type TestDatabase, testLog } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;

beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 16 });
});
afterAll(() => test.drop());
beforeEach(() => {
  world = openFoundationWorld(test.database);
});
afterEach(async () => {
  for (const run of world.parts.live.list()) run.stop('lost');
  await world.parts.live.idle();
  await test.database.sql`
    update foundation.runs set status = 'failed', ended_at = hearth_now() where status in ('queued', 'running')`;
});

const script = {
  rules: [
    { when: { type: 'test.work' }, steps: [{ say: 'at work' }, { complete: { $ref: '/activation/data' } }] },
    { when: { type: 'test.stuck' }, steps: [{ await: 'steer' }, { complete: 'steered' }] },
  ],
  supports: { steer: true },
};

async function decide(parts = world.parts): Promise<void> {
  await resolveInputs(parts);
}

/** As if every run had been made long ago. */
async function age(): Promise<void> {
  await test.database.sql`update foundation.runs set created_at = created_at - interval '10 seconds'`;
}

describe('sharing (F6)', () => {
  it('two hosts, 100 agents that one of them had: each does a fifth of the work at least', async () => {
    const agents = await Promise.all(Array.from({ length: 100 }, () => world.addAgent({ script })));
    const hosts = [hostWithLoops(), hostWithLoops()];
    const [earlier, later] = hosts;
    for (const agent of agents) await world.send({ target: { agent: agent.agent } });
    const loops: FoundationLoops[] = [startFoundationLoops(earlier?.parts ?? world.parts)];
    await allDone(agents.length);
    const before = await sharesOf();
    expect([...before.keys()]).toEqual([earlier?.parts.holder]);
    loops.push(startFoundationLoops(later?.parts ?? world.parts));
    for (let round = 0; round < 6; round += 1)
      await Promise.all(agents.map(({ agent }) => world.send({ target: { agent } })));
    await allDone(agents.length * 7);
    const shares = await sharesOf();
    const done = hosts.map(({ parts }) => (shares.get(parts.holder) ?? 0) - (before.get(parts.holder) ?? 0));
    expect(Math.min(...done)).toBeGreaterThanOrEqual(agents.length * 6 * 0.2);
    await Promise.all(loops.map((loop) => loop.stop({ graceMs: 1_000 })));
    await Promise.all(hosts.map(({ parts }) => parts.wakeups.close()));
  }, 120_000);

  it('an agent that is asked for goes when its run ends, to the asker alone, under the next epoch', async () => {
    const agent = await world.addAgent({ script });
    await world.send({ type: 'test.stuck', target: { agent: agent.agent } });
    await decide();
    await startRuns(world.parts);
    await world.send({ target: { agent: agent.agent } });
    await decide();
    await age();
    const asker = world.host();
    await startRuns(asker);
    await sharePlacements(world.parts);
    expect(world.parts.live.isAsked(agent.home)).toBe(true);
    expect(asker.live.list()).toEqual([]);
    world.parts.live.list()[0]?.stop('released');
    await world.parts.live.idle();
    await sharePlacements(world.parts);
    const third = world.host();
    for (const host of [world.parts, third]) await startRuns(host);
    expect([world.parts.live.list(), third.live.list()]).toEqual([[], []]);
    await startRuns(asker);
    await asker.live.idle();
    const runs = await world.runs(agent);
    expect(runs[1]).toMatchObject({ status: 'completed', holder: asker.holder, placementEpoch: 2 });
  });

  it('what nobody fetches within its time is anybody’s again', async () => {
    const agent = await world.addAgent({ script });
    await world.send({ target: { agent: agent.agent } });
    await world.settle();
    await world.send({ target: { agent: agent.agent } });
    await decide();
    await age();
    await startRuns(world.host());
    await sharePlacements(world.parts);
    await startRuns(world.parts);
    expect(world.parts.live.list()).toEqual([]);
    await test.database.sql`update home.placements set wanted_until = hearth_lease_now() where home = ${agent.home}`;
    await world.settle();
    expect((await world.runs(agent)).map(({ placementEpoch }) => placementEpoch)).toEqual([1, 2]);
  });

  it('a host without room asks for nothing, and what it has no run of goes to who has room', async () => {
    const busy = await world.addAgent({ script });
    const idle = await world.addAgent({ script });
    const small = createFoundation({ ...world.host(), runLimit: 1 });
    await world.send({ target: { agent: idle.agent } });
    await world.settle([small]);
    await world.send({ type: 'test.stuck', target: { agent: busy.agent } });
    await decide(small);
    await startRuns(small);
    await world.send({ target: { agent: idle.agent } });
    await decide(small);
    await age();
    await startRuns(small);
    await startRuns(world.parts);
    await sharePlacements(small);
    await startRuns(world.parts);
    await world.parts.live.idle();
    expect((await world.runs(idle)).map(({ holder }) => holder)).toEqual([small.holder, world.parts.holder]);
    for (const run of small.live.list()) run.stop('lost');
    await small.live.idle();
  });

  it('only what is used is kept: idle agents lapse, and more than a host keeps are given away', () => {
    const placed = Array.from({ length: placementLimits.idleKept + 1 }, (_, idleMs) => ({
      home: `h${idleMs}`,
      idleMs,
    }));
    expect(agentsToGive(placed.slice(0, -1), new Set())).toEqual([]);
    expect(agentsToGive(placed, new Set())).toEqual([`h${placementLimits.idleKept}`]);
    const { idleKeptMs } = placementLimits;
    const ages = [idleKeptMs - 1, idleKeptMs].map((idleMs) => ({ home: `${idleMs}`, idleMs }));
    expect(agentsToGive(ages, new Set())).toEqual([`${idleKeptMs}`]);
    expect(agentsToGive([{ home: 'used', idleMs: undefined }], new Set(['used']))).toEqual([]);
  });

  it('a placement that somebody has locked lets no other lapse', async () => {
    const agents = await Promise.all([world.addAgent({ script }), world.addAgent({ script })]);
    for (const { agent } of agents) await world.send({ type: 'test.stuck', target: { agent } });
    await decide();
    await startRuns(world.parts);
    await test.database.sql`update home.placements set expires_at = hearth_lease_now() + interval '2 seconds'`;
    await test.database.transact('stuck', async (tx) => {
      await tx`select 1 from home.placements where home = ${agents[0]?.home ?? ''} for share`;
      await keepLeases(world.parts);
      const [kept] = await test.database.sql<{ ms: number }[]>`
        select (extract(epoch from expires_at - hearth_lease_now()) * 1000)::integer as ms
          from home.placements where home = ${agents[1]?.home ?? ''}`;
      expect(kept?.ms).toBeGreaterThan(placementLimits.ttlMs - 2_000);
    });
    await keepLeases(world.parts);
    expect(world.parts.live.list()).toHaveLength(2);
  });

  it('BR-42: a host that drains takes nothing, not even what a step under way has in hand', async () => {
    const agent = await world.addAgent({ script });
    await world.send({ target: { agent: agent.agent } });
    await decide();
    const leaving = world.host();
    const starting = startRuns(leaving);
    leaving.live.close();
    await starting;
    await leaving.live.idle();
    expect(leaving.live.reserve(agent.home)).toBeUndefined();
    await world.settle();
    expect((await world.runs(agent)).map(({ status, holder }) => [status, holder])).toEqual([
      ['completed', world.parts.holder],
    ]);
  });

  function hostWithLoops() {
    const parts = world.host();
    const { clock, holder } = parts;
    const wakeups = createWakeups({ clock, log: testLog(), instance: holder, database: test.database });
    return { parts: { ...createFoundation({ ...parts, wakeups }) } };
  }

  async function allDone(count: number): Promise<void> {
    await vi.waitUntil(async () => [...(await sharesOf()).values()].reduce((sum, n) => sum + n, 0) >= count, {
      timeout: 60_000,
      interval: 20,
    });
  }

  async function sharesOf(): Promise<Map<string, number>> {
    const rows = await test.database.sql<{ holder: string; count: number }[]>`
      select holder, count(*) as count
        from foundation.runs
       where status = 'completed'
       group by holder`;
    return new Map(rows.map(({ holder, count }) => [holder, count]));
  }
});

describe('work that no host drives', () => {
  it('a run that cannot be ended is put off, said once, and holds up no other', async () => {
    const [bad, good] = await Promise.all([world.addAgent({ script }), world.addAgent({ script })]);
    for (const { agent } of [bad, good]) await world.send({ type: 'test.stuck', target: { agent } });
    const gone = world.host();
    await decide(gone);
    await startRuns(gone);
    for (const run of gone.live.list()) run.stop('lost');
    await gone.live.idle();
    await world.expire();
    const error = vi.fn();
    const reaper: FoundationParts = { ...world.parts, log: Object.assign(testLog(), { error }) };
    await withFaultAt(bad.home, async () => {
      await reapRuns(reaper);
      await test.database.sql`update foundation.runs set reap_after = hearth_lease_now() where reap_after is not null`;
      await reapRuns(reaper);
      // Not due any more: it is passed over.
      await reapRuns(reaper);
    });
    expect(error).toHaveBeenCalledTimes(1);
    expect((await world.runs(good))[0]).toMatchObject({ status: 'failed', reasonCode: 'lease_expired' });
    const [put] = await test.database.sql<{ reapFaults: number; ms: number }[]>`
      select reap_faults, (extract(epoch from reap_after - hearth_lease_now()) * 1000)::integer as ms
        from foundation.runs
       where home = ${bad.home}`;
    expect(put?.reapFaults).toBe(2);
    expect(put?.ms).toBeGreaterThan(7_000);
    await test.database.sql`update foundation.runs set reap_after = hearth_lease_now() where reap_after is not null`;
    await reapRuns(reaper);
    expect((await world.runs(bad))[0]).toMatchObject({ status: 'failed', reasonCode: 'lease_expired' });
  });

  it.each(['paused', 'active'] as const)(
    'a queued run of a %s agent that is cancelled ends at once',
    async (status) => {
      const agent = await world.addAgent({ script, status });
      const subject = { resource: `queued-${status}` };
      const input = await world.send({ target: { agent: agent.agent }, subject });
      await world.send({ target: { agent: agent.agent }, subject, data: 'next' });
      await decide();
      const [run] = await world.runs(agent);
      await world.send(
        { kind: 'control', type: 'run.control', target: { run: run?.id ?? '' } },
        { control: { verb: 'cancel', authority: 'test' } },
      );
      await decide();
      const [ended, next] = await world.runs(agent);
      expect(ended).toMatchObject({ status: 'cancelled', reasonCode: 'control_cancel', startedAt: null });
      expect(await world.events(run?.id ?? '')).toEqual(['run.cancelled']);
      expect((await world.view(input)).dispositions).toMatchObject([{ status: 'consumed', runId: run?.id }]);
      expect(next).toMatchObject({ status: 'queued' });
    },
  );

  /** Everything of one agent's runs that is to be ended fails. */
  async function withFaultAt(home: string, work: () => Promise<void>): Promise<void> {
    await test.database.sql.unsafe(`
      create function public.no_end() returns trigger language plpgsql as $$ begin raise exception 'no end'; end $$;
      create trigger no_end before update on foundation.runs for each row
        when (old.home = '${home}' and new.status = 'failed') execute function public.no_end()`);
    try {
      await work();
    } finally {
      await test.database.sql.unsafe('drop trigger no_end on foundation.runs; drop function public.no_end()');
    }
  }
});
