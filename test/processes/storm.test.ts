/** F6, BR-41, BR-42, BR-57: processes are killed, stopped and drained at random under load; in the end all is done once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Random, seededRandom, systemClock } from '../../src/platform/index.js';
import { type CountingServer, startCountingServer } from '../support/counting-server.js';
import { type Cluster, startCluster } from './domain-cluster.js';
import type { DomainProcess } from './domain-process.js';
import { expectSound } from './invariants.js';
import { answer, atRest, command, createAgents } from './workload.js';

const long = process.env.HEARTH_TEST_LONG === '1';
const seeds = long ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : [1];
const strikes = long ? 12 : 3;
const agentCount = 12;
const clock = systemClock();
const inputs: string[] = [];
let agents: string[] = [];
let server: CountingServer;
let cluster: Cluster;

beforeAll(async () => {
  server = await startCountingServer();
  cluster = await startCluster({ size: 3, effectOrigin: server.origin });
  agents = await createAgents(cluster, server, agentCount);
  server.during(() => clock.sleep(30));
}, 90_000);

afterAll(async () => {
  await cluster.close();
  await server.close();
});

const blows = {
  async kill(process: DomainProcess) {
    await process.kill();
    await process.start();
  },
  async drain(process: DomainProcess) {
    await process.terminate();
    await process.start();
  },
  /** Shorter or longer than a lease. */
  async stop(process: DomainProcess, random: Random) {
    process.pause();
    await clock.sleep(random.uniform(200, long ? 15_000 : 8_000));
    process.proceed();
  },
};

async function storm(random: Random): Promise<string[]> {
  const told: string[] = [];
  for (let strike = 0; strike < strikes; strike += 1) {
    const names = ['kill', 'drain', 'stop'] as const;
    const name = names[strike < names.length ? strike : Math.floor(random.uniform(0, 3))] ?? 'kill';
    const struck = cluster.at(Math.floor(random.uniform(0, cluster.processes.length)));
    told.push(`${name} ${struck.name}`);
    await clock.sleep(random.uniform(50, 400));
    await blows[name](struck, random);
  }
  return told;
}

/** Work, waits and their answers, in many sessions, as long as it storms. */
async function sendDuring(seed: number, sender: number, isOver: () => boolean): Promise<void> {
  const random = seededRandom(seed * 1_000 + sender);
  for (let n = 0; !isOver(); n += 1) {
    const agent = agents[Math.floor(random.uniform(0, agentCount))] ?? '';
    const common = { agent, n: `${seed}-${sender}-${n}` };
    if (random.uniform(0, 1) < 0.7) {
      const session = `work-${Math.floor(random.uniform(0, 3))}`;
      inputs.push(await command(cluster, { ...common, session, type: 'work.do' }));
    } else {
      const question = `q-${common.n}`;
      inputs.push(await command(cluster, { ...common, session: question, type: 'wait.on', question }));
      inputs.push(await answer(cluster, question));
    }
    await clock.sleep(random.uniform(0, 100));
  }
}

describe('a storm over three processes (F6, BR-41, BR-42, BR-57)', () => {
  it.each(seeds)(
    'seed %i: everything acknowledged is done once, in order, and nothing is left',
    {
      timeout: 240_000,
    },
    async (seed) => {
      let over = false;
      const senders = (long ? [0, 1, 2, 3] : [0, 1]).map((sender) => sendDuring(seed, sender, () => over));
      const told = await storm(seededRandom(seed)).finally(() => {
        over = true;
      });
      await Promise.all(senders);
      await atRest(cluster, { timeout: 90_000 });
      await expectSound(cluster.sql, inputs);
      expect(new Set(server.executions.map(({ key }) => key)).size, told.join(', ')).toBe(server.executions.length);
    },
  );
});
