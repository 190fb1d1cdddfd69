/** BR-42: a rolling restart while waits are answered, and a drain under load: nothing twice, stranded, or claimed late. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/index.js';
import { type CountingServer, startCountingServer } from '../support/counting-server.js';
import { type Cluster, startCluster } from './domain-cluster.js';
import type { DomainProcess } from './domain-process.js';
import { expectSound, shares, startedAfter } from './invariants.js';
import { answer, atRest, command, createAgents, sendAll, workLeft } from './workload.js';

const long = process.env.HEARTH_TEST_LONG === '1';
const waits = long ? 100 : 40;
const clock = systemClock();
const inputs: string[] = [];
let agents: string[] = [];
let server: CountingServer;
let cluster: Cluster;

beforeAll(async () => {
  server = await startCountingServer();
  cluster = await startCluster({ size: 2, effectOrigin: server.origin });
  agents = await createAgents(cluster, server, 8);
}, 90_000);

afterAll(async () => {
  await cluster.close();
  await server.close();
});

/** What was under way at the signal may come to its end; how long a claim that had begun may take to be dated. */
const inFlightMs = 250;

/** Answers what the process has started although it was stopping. */
async function drain(draining: DomainProcess): Promise<readonly unknown[]> {
  const name = draining.startName();
  let stoppingAt: Date | undefined;
  const code = await draining.terminate(async () => {
    stoppingAt = await cluster.databaseNow();
  });
  expect([name, code]).toEqual([name, 0]);
  if (!stoppingAt) throw new Error('the process did not say that it stops');
  return startedAfter(cluster.sql, name, new Date(stoppingAt.getTime() + inFlightMs));
}

describe('a rolling restart (BR-42)', () => {
  it(`${waits} waits answered meanwhile go on once each, and none is stranded`, { timeout: 120_000 }, async () => {
    const questions = Array.from({ length: waits }, (_, n) => `question-${n}`);
    inputs.push(
      ...(await sendAll(questions, (question, n) =>
        command(cluster, { agent: agents[n % 8] ?? '', session: `w${n}`, type: 'wait.on', n, question }),
      )),
    );
    await atRest(cluster, { suspended: waits });
    const late: unknown[] = [];
    const restarting = (async () => {
      for (const process of cluster.processes) {
        late.push(...(await drain(process)));
        await process.start();
      }
    })();
    for (const question of questions) {
      inputs.push(await answer(cluster, question));
      // Spread over the whole restart, which takes as long as it takes.
      await Promise.race([restarting, clock.sleep(3_000 / waits)]);
    }
    await restarting;
    await atRest(cluster);
    expect(late).toEqual([]);
    await expectSound(cluster.sql, inputs);
    const [consumed] = await cluster.sql`select count(*) as n from foundation.suspensions where status = 'consumed'`;
    expect(consumed?.n).toBe(waits);
    expect(new Set(server.executions.map(({ key }) => key)).size).toBe(waits);
    expect(server.executions).toHaveLength(waits);
  });

  it('a process that drains under load claims nothing more, and ends with 0', { timeout: 120_000 }, async () => {
    server.during(() => clock.sleep(40));
    const work = Array.from({ length: long ? 1_000 : 120 }, (_, n) => n);
    const sending = sendAll(work, (n) =>
      command(cluster, { agent: agents[n % 8] ?? '', session: `d${n % 120}`, type: 'work.do', n }),
    );
    const draining = cluster.at(1);
    await expect
      .poll(async () => (await shares(cluster.sql))[draining.startName()] ?? 0, { timeout: 20_000, interval: 20 })
      .toBeGreaterThan(10);
    const late = await drain(draining);
    inputs.push(...(await sending));
    expect(late).toEqual([]);
    await draining.start();
    await atRest(cluster, { timeout: 60_000 });
    await expectSound(cluster.sql, inputs);
    expect(await workLeft(cluster.sql)).toMatchObject({ unended: 0, active: 0 });
  });
});
