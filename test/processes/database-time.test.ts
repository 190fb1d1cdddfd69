/** F6, F15, BR-52: neither a step of the database's clock nor its standstill ends what living processes hold, or keeps a dead one's. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/index.js';
import { type CountingServer, startCountingServer } from '../support/counting-server.js';
import { type Cluster, startCluster } from './domain-cluster.js';
import { expectSound } from './invariants.js';
import {
  atRest,
  command,
  createAgents,
  type DrivenRun,
  holdOnBoth,
  release,
  runById,
  untilRenewed,
} from './workload.js';

const clock = systemClock();
const hour = 3_600_000;
const agentCount = 16;
const inputs: string[] = [];
let server: CountingServer;
let cluster: Cluster;
let held: ReadonlyMap<string, DrivenRun>;

beforeAll(async () => {
  server = await startCountingServer();
  cluster = await startCluster({ size: 2, effectOrigin: server.origin });
  await createAgents(cluster, server, agentCount);
}, 90_000);

afterAll(async () => {
  await cluster.close();
  await server.close();
});

async function expectStillHeld(): Promise<void> {
  await untilRenewed(cluster, held.values());
  for (const run of held.values()) {
    const { status, attempt, holder } = await runById(cluster.sql, run.id);
    expect({ status, attempt, holder }).toEqual({ status: 'running', attempt: 1, holder: run.holder });
  }
}

async function work(n: string): Promise<void> {
  inputs.push(await command(cluster, { agent: 'agent0', session: 'work', type: 'work.do', n }));
}

/** The runs that hold, and those that are to. */
async function releaseAll(): Promise<void> {
  const left = async () => cluster.sql<{ id: string; holds: boolean }[]>`
    select r.id, exists (select 1 from foundation.run_events e
                          where e.home = r.home and e.run_id = r.id and e.data ->> 'value' = 'holding') as holds
      from foundation.runs r
     where r.status in ('queued', 'running')`;
  await expect
    .poll(
      async () => {
        const open = await left();
        for (const { id } of open.filter(({ holds }) => holds)) await release(cluster, id);
        return open.length;
      },
      { timeout: 20_000, interval: 200 },
    )
    .toBe(0);
}

describe('two processes at work while the time of their database is not what it was (F6, F15, BR-52)', () => {
  it('lose nothing to steps of eight hours, nor to a standstill longer than a lease', {
    timeout: 120_000,
  }, async () => {
    held = await holdOnBoth(cluster, { agentCount, inputs });
    for (const step of [8 * hour, -8 * hour, 0]) {
      await cluster.stepDatabaseClock(step);
      await work(`step ${step}`);
      await expectStillHeld();
    }
    const thaw = cluster.freezeDatabase();
    await clock.sleep(8_000);
    thaw();
    await work('after the standstill');
    await expectStillHeld();
    for (const run of held.values()) await release(cluster, run.id);
    await atRest(cluster);
    expect(await cluster.sql`select id from foundation.runs where reason_code = 'lease_expired'`).toEqual([]);
    await expectSound(cluster.sql, inputs, { clockMoved: true });
  });

  it.each([
    ['back', -8 * hour],
    ['ahead', 8 * hour],
  ])('take over from one that dies as its clock goes eight hours %s', { timeout: 120_000 }, async (name, step) => {
    held = await holdOnBoth(cluster, { agentCount, inputs, session: name });
    const run = held.get('p1');
    if (!run) throw new Error('p1 holds nothing');
    await cluster.at(1).kill();
    await cluster.stepDatabaseClock(step);
    await expect
      .poll(async () => (await runById(cluster.sql, run.id)).reasonCode, { timeout: 15_000, interval: 50 })
      .toBe('lease_expired');
    await cluster.at(1).start();
    await releaseAll();
    await atRest(cluster);
    await expectSound(cluster.sql, inputs, { clockMoved: true });
    await cluster.stepDatabaseClock(0);
  });
});
