/** F6, BR-42, BR-55, BR-57: a process stopped for longer than its lease and woken again: it is fenced, and useful again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CountingServer, startCountingServer } from '../support/counting-server.js';
import { type Cluster, startCluster } from './domain-cluster.js';
import type { DomainProcess } from './domain-process.js';
import { expectSound, shares } from './invariants.js';
import { atRest, command, createAgents, holdingRun, release, runById, untilDecided } from './workload.js';

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

async function send(session: string, type: string, n: number): Promise<string> {
  const id = await command(cluster, { agent: 'agent0', session, type, n });
  inputs.push(id);
  return id;
}

/** Stops it again and again while it has something to decide, until it is caught with the head of the log locked. */
async function stopWhileItLocks(process: DomainProcess, give: () => Promise<void>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    await give();
    process.pause();
    const caught = await cluster.sql`
      select pid from pg_stat_activity
       where application_name = ${process.startName()} and state = 'idle in transaction'
         and (query like '%candidates%' or query like '%input_log_heads%')`;
    if (caught.length > 0) return;
    process.proceed();
  }
  throw new Error('it was never caught in a transaction');
}

describe('a process is stopped for longer than its lease (SIGSTOP)', () => {
  it('the other takes over under a higher epoch, and the stopped one writes nothing under its own', {
    timeout: 60_000,
  }, async () => {
    const held = await send('stopped', 'hold.on', 0);
    const first = await holdingRun(cluster.sql, held);
    for (let n = 1; n <= 5; n += 1) await send('stopped', 'work.do', n);
    const stopped = await cluster.processOf(first.holder);
    await untilDecided(cluster.sql, inputs);
    stopped.pause();
    const second = await holdingRun(cluster.sql, held, 2);
    expect(second.placementEpoch).toBeGreaterThan(first.placementEpoch);
    expect(await cluster.processOf(second.holder)).not.toBe(stopped);
    const events = () =>
      cluster.sql`select type, seq, at from foundation.run_events where run_id = ${first.id} order by seq`;
    const before = await events();
    stopped.proceed();
    // It has seen that the run is not its own any more.
    await expect.poll(() => stopped.said(), { timeout: 10_000, interval: 50 }).toMatch(/given up here|had moved on/);
    await release(cluster, second.id);
    await atRest(cluster);
    expect(await events()).toEqual(before);
    expect(await runById(cluster.sql, first.id)).toMatchObject({ status: 'failed', reasonCode: 'lease_expired' });
    expect(await runById(cluster.sql, second.id)).toMatchObject({ status: 'completed' });
    await expectSound(cluster.sql, inputs);
  });

  it('it does new work afterwards', { timeout: 60_000 }, async () => {
    const held = await cluster.sql<{ holder: string }[]>`select holder from foundation.runs where attempt = 1 limit 1`;
    const stopped = await cluster.processOf(held[0]?.holder ?? '');
    const other = cluster.processes.find((process) => process !== stopped);
    const before = (await shares(cluster.sql))[stopped.startName()] ?? 0;
    await other?.terminate();
    for (let n = 1; n <= 5; n += 1) await send('afterwards', 'work.do', n);
    await atRest(cluster);
    expect((await shares(cluster.sql))[stopped.startName()]).toBe(before + 5);
    await expectSound(cluster.sql, inputs);
    await other?.start();
  });

  it('stopped in a transaction that others wait for, it holds them up for seconds only', {
    timeout: 90_000,
  }, async () => {
    const held = await send('locked', 'hold.on', 0);
    const first = await holdingRun(cluster.sql, held);
    const stopped = await cluster.processOf(first.holder);
    let n = 0;
    await stopWhileItLocks(stopped, async () => {
      n += 1;
      await send('locked', 'work.do', n);
    });
    await expect
      .poll(async () => (await runById(cluster.sql, first.id)).status, { timeout: 15_000, interval: 100 })
      .toBe('failed')
      .finally(() => stopped.proceed());
    const second = await holdingRun(cluster.sql, held, 2);
    await release(cluster, second.id);
    await atRest(cluster, { timeout: 60_000 });
    await expectSound(cluster.sql, inputs);
  });
});
