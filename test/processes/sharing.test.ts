/** F6: two processes share the work of many agents, above what one of them may drive at once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/index.js';
import { type CountingServer, startCountingServer } from '../support/counting-server.js';
import { type Cluster, startCluster } from './domain-cluster.js';
import { expectSound, shares } from './invariants.js';
import { atRest, command, createAgents, sendAll } from './workload.js';

const long = process.env.HEARTH_TEST_LONG === '1';
const clock = systemClock();
const agentCount = 40;
const [sessions, each] = long ? [5, 10] : [2, 2];
const oneProcess = 32;
const inputs: string[] = [];
let agents: string[] = [];
let server: CountingServer;
let cluster: Cluster;

beforeAll(async () => {
  server = await startCountingServer();
  cluster = await startCluster({ size: 2, effectOrigin: server.origin });
  agents = await createAgents(cluster, server, agentCount);
}, 90_000);

afterAll(async () => {
  await cluster.close();
  await server.close();
});

/** Nothing gets done before more is under way than one process may drive. */
async function load(round: string): Promise<Record<string, number>> {
  const before = await shares(cluster.sql);
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  server.during(() => Promise.race([gate.then(() => clock.sleep(50)), clock.sleep(8_000)]));
  const items = Array.from({ length: each }, (_, n) => n).flatMap((n) =>
    Array.from({ length: sessions }, (_, s) => s).flatMap((s) => agents.map((agent) => ({ agent, s, n }))),
  );
  const sending = sendAll(items, ({ agent, s, n }) =>
    command(cluster, { agent, session: `${round}-${s}`, type: 'work.do', n }),
  );
  await expect.poll(runningNow, { timeout: 20_000, interval: 50 }).toBeGreaterThan(oneProcess);
  open();
  inputs.push(...(await sending));
  await atRest(cluster, { timeout: 60_000 });
  const after = await shares(cluster.sql);
  const names = cluster.processes.map((process) => process.startName());
  return Object.fromEntries(names.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
}

async function runningNow(): Promise<number> {
  const [row] = await cluster.sql<{ n: number }[]>`
    select count(*) as n from foundation.runs where status = 'running'`;
  return row?.n ?? 0;
}

/** Nobody dies here, so no run may be lost either. */
async function failedRuns(): Promise<readonly unknown[]> {
  return cluster.sql`
    select r.id, r.status, r.reason_code, r.attempt, r.placement_epoch, h.process, r.started_at, r.ended_at,
           r.lease_expires_at
      from foundation.runs r
      left join public.test_hosts h on h.holder = r.holder
     where r.status = 'failed'`;
}

function expectFair(done: Record<string, number>): void {
  const total = Object.values(done).reduce((sum, runs) => sum + runs, 0);
  expect(total).toBe(agentCount * sessions * each);
  const least = Math.min(...Object.values(done)) / total;
  expect(least, `the least share of ${JSON.stringify(done)}`).toBeGreaterThanOrEqual(0.2);
}

describe('two processes on one database (F6)', () => {
  it.runIf(long)(
    `a load of more than ${oneProcess} runs at once is shared, each does a fifth at least`,
    {
      timeout: 120_000,
    },
    async () => {
      const done = await load('cold');
      expect(await failedRuns()).toEqual([]);
      await expectSound(cluster.sql, inputs);
      expect(new Set(server.executions.map(({ key }) => key)).size).toBe(inputs.length);
      expectFair(done);
    },
  );

  it(`a load of more than ${oneProcess} runs at once is shared also when one process had all the agents before`, {
    timeout: 120_000,
  }, async () => {
    // With the other away, the first has every agent's placement.
    await cluster.at(1).terminate();
    server.during(undefined);
    inputs.push(
      ...(await sendAll(agents, (agent) => command(cluster, { agent, session: 'warm', type: 'work.do', n: 0 }))),
    );
    await atRest(cluster);
    await cluster.at(1).start();
    const done = await load('warm');
    expect(await failedRuns()).toEqual([]);
    await expectSound(cluster.sql, inputs);
    expect(new Set(server.executions.map(({ key }) => key)).size).toBe(inputs.length);
    expectFair(done);
  });
});
