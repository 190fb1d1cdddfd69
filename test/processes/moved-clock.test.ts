/** BR-52: a process whose wall clock is five minutes ahead, and steps by eight hours, judges no lease and no time by it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

const minute = 60_000;
const hour = 60 * minute;
const agentCount = 16;
const inputs: string[] = [];
let server: CountingServer;
let cluster: Cluster;
/** One run in work on each process. */
let held: ReadonlyMap<string, DrivenRun>;

beforeAll(async () => {
  server = await startCountingServer();
  cluster = await startCluster({ size: 2, effectOrigin: server.origin, wallClockMs: { 1: 5 * minute } });
  await createAgents(cluster, server, agentCount);
}, 90_000);

afterAll(async () => {
  await cluster.close();
  await server.close();
});

interface Slot {
  type: string;
  slot: string;
  lateMs: number;
}

async function slotsOf(scheduleId: string): Promise<Slot[]> {
  return cluster.sql<Slot[]>`
    select type, data ->> 'slot' as slot, (data ->> 'late_ms')::integer as late_ms
      from foundation.inputs
     where data ->> 'schedule_id' = ${scheduleId}
     order by 2`;
}

describe('a wall clock five minutes ahead that steps by eight hours (BR-52)', () => {
  it('takes over no live lease, ends no wait early, and lets timers come in time', { timeout: 120_000 }, async () => {
    held = await holdOnBoth(cluster, { agentCount, inputs });
    const from = await cluster.databaseNow();
    const at = (ms: number) => new Date(from.getTime() + ms).toISOString();
    const timer = await cluster.ask('POST', '/v1/schedules', {
      agent: 'agent0',
      rule: { kind: 'timer', at: at(3_000) },
    });
    const beat = await cluster.ask('POST', '/v1/schedules', {
      agent: 'agent0',
      rule: { kind: 'heartbeat', every_s: 1, from: at(1_000) },
    });
    const paused = await command(cluster, { agent: 'agent0', session: 'paused', type: 'pause.on', n: 1 });
    inputs.push(paused);
    const moved = cluster.at(1);
    await untilRenewed(cluster, held.values());
    for (const step of [8 * hour, -8 * hour, 5 * minute, 0]) {
      await moved.moveWallClock(step);
      inputs.push(await command(cluster, { agent: 'agent0', session: 'work', type: 'work.do', n: step }));
      await untilRenewed(cluster, held.values());
    }
    const passedMs = (await cluster.databaseNow()).getTime() - from.getTime();
    expect(passedMs).toBeGreaterThan(5_000);

    for (const run of held.values()) {
      const { status, attempt, placementEpoch, holder } = await runById(cluster.sql, run.id);
      expect({ status, attempt, placementEpoch, holder }).toEqual({
        status: 'running',
        attempt: 1,
        placementEpoch: 1,
        holder: run.holder,
      });
      await release(cluster, run.id);
    }
    expect((await slotsOf(String(timer.id))).map(({ slot }) => slot)).toEqual([at(3_000)]);
    const beats = await slotsOf(String(beat.id));
    expect(beats.length).toBeGreaterThanOrEqual(Math.floor(passedMs / 1_000) - 2);
    expect(beats.length).toBeLessThanOrEqual(Math.ceil(passedMs / 1_000) + 1);
    expect(new Set(beats.map(({ slot }) => slot)).size).toBe(beats.length);
    const slots = [...beats, ...(await slotsOf(String(timer.id)))];
    expect(slots.filter(({ lateMs }) => lateMs > 2_000)).toEqual([]);
    await cluster.ask('DELETE', `/v1/schedules/${String(beat.id)}`);
    await atRest(cluster);
    await expectWaitHasExpiredInTime();
    expect(await cluster.sql`select id from foundation.runs where reason_code = 'lease_expired'`).toEqual([]);
    await expectSound(cluster.sql, inputs);
  });
});

async function expectWaitHasExpiredInTime(): Promise<void> {
  const [wait] = await cluster.sql<{ lastedMs: number }[]>`
    select extract(epoch from r.created_at - s.created_at) * 1000 as lasted_ms
      from foundation.suspensions s
      join foundation.runs r on r.home = s.home and r.id = s.continuation_run_id
     where s.reason = 'pausing'`;
  expect(Number(wait?.lastedMs)).toBeGreaterThanOrEqual(3_000);
  expect(Number(wait?.lastedMs)).toBeLessThan(5_000);
}
