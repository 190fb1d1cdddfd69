/** F6, BR-41: SIGKILL of the process that drives a run, with work queued behind it: the run ends, the queue goes on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/index.js';
import { type CountingServer, startCountingServer } from '../support/counting-server.js';
import { type Cluster, startCluster } from './domain-cluster.js';
import { busyWithoutRun, expectSound } from './invariants.js';
import { atRest, command, createAgents, holdingRun, release, runById } from './workload.js';

const clock = systemClock();
const inputs: string[] = [];
let server: CountingServer;
let cluster: Cluster;

beforeAll(async () => {
  server = await startCountingServer();
  cluster = await startCluster({ size: 2, effectOrigin: server.origin });
  await createAgents(cluster, server, 2);
}, 90_000);

afterAll(async () => {
  await cluster.close();
  await server.close();
});

/** A run that holds, five commands behind it in its session, and work for another agent. */
async function heldWithQueue(session: string) {
  const held = await command(cluster, { agent: 'agent0', session, type: 'hold.on', n: 0 });
  const run = await holdingRun(cluster.sql, held);
  const queued = [];
  for (let n = 1; n <= 5; n += 1) queued.push(await command(cluster, { agent: 'agent0', session, type: 'work.do', n }));
  inputs.push(held, ...queued);
  inputs.push(await command(cluster, { agent: 'agent1', session, type: 'work.do', n: 1 }));
  return { held, run, queued };
}

async function expectTakenOver(held: string, first: Awaited<ReturnType<typeof runById>>, killedAtMs: number) {
  await expect
    .poll(async () => (await runById(cluster.sql, first.id)).status, { timeout: 15_000, interval: 50 })
    .toBe('failed');
  expect(clock.monotonicMs() - killedAtMs).toBeLessThan(15_000);
  expect((await runById(cluster.sql, first.id)).reasonCode).toBe('lease_expired');
  const second = await holdingRun(cluster.sql, held, 2);
  expect(second.placementEpoch).toBeGreaterThan(first.placementEpoch);
  expect(second.holder).not.toBe(first.holder);
  expect(await busyWithoutRun(cluster.sql)).toEqual([]);
  await release(cluster, second.id);
  await atRest(cluster);
  return second;
}

describe('a process is killed in mid-run (F6, BR-41)', () => {
  it('the other ends its run with a reason within 15 s and does the five queued inputs in order', async () => {
    const { held, run, queued } = await heldWithQueue('killed');
    const driver = await cluster.processOf(run.holder);
    const killedAtMs = clock.monotonicMs();
    await driver.kill();
    const second = await expectTakenOver(held, run, killedAtMs);
    expect(await cluster.processOf(second.holder)).not.toBe(driver);
    const order = await cluster.sql<{ inputId: string }[]>`
      select c.input_id
        from foundation.runs r
        join foundation.candidates c on c.home = r.home and c.id = r.activation_candidate_id
       where r.session_id = ${run.sessionId} and r.status = 'completed'
       order by r.started_at`;
    expect(order.map(({ inputId }) => inputId)).toEqual([held, ...queued]);
    await expectSound(cluster.sql, inputs);
    await driver.start();
  });

  it('so does the same process, started again alone, with what it left itself', async () => {
    await cluster.at(1).terminate();
    const { held, run } = await heldWithQueue('restarted');
    expect(await cluster.processOf(run.holder)).toBe(cluster.at(0));
    const killedAtMs = clock.monotonicMs();
    await cluster.at(0).kill();
    await cluster.at(0).start();
    await expectTakenOver(held, run, killedAtMs);
    await expectSound(cluster.sql, inputs);
  });

  it('each queued input did its effect outside once', () => {
    expect(server.executions).toHaveLength(12);
    expect(new Set(server.executions.map(({ key }) => key)).size).toBe(12);
  });
});
