// What the processes are given to do: scripted agents, commands to their sessions, and how a test waits for the end of it.
import { expect } from 'vitest';
import type { Sql } from '../../src/platform/index.js';
import type { CountingServer } from '../support/counting-server.js';
import type { Cluster } from './domain-cluster.js';

/** `work` does one effect outside, `hold` lasts until it is steered, `wait` suspends until its question is answered. */
function script(url: string): object {
  const effect = {
    propose: { id: 'order', action: 'http.post', target: url, input: { n: { $ref: '/first/data/n' } } },
  };
  const question = '{{/activation/data/question}}';
  return {
    supports: { steer: true },
    rules: [
      { when: { type: 'work.*' }, steps: [{ say: 'working' }, effect, { complete: 'worked' }] },
      {
        when: { type: 'hold.*' },
        steps: [{ say: 'holding' }, { await: 'steer' }, { say: 'released' }, { complete: 'held' }],
      },
      {
        when: { type: 'wait.*' },
        steps: [
          { say: 'asking' },
          { suspend: { reason: 'asked', until: [{ type: 'answer.given', subject: question }] } },
          effect,
          { complete: 'answered' },
        ],
      },
      {
        when: { type: 'pause.*' },
        steps: [
          { suspend: { reason: 'pausing', until: [{ type: 'never.comes' }], expires: { in_ms: 3_000 } } },
          { complete: 'went on' },
        ],
      },
    ],
  };
}

export async function createAgents(cluster: Cluster, server: CountingServer, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `agent${index}`);
  await sendAll(names, async (name) => {
    await cluster.ask('POST', '/admin/v1/agents', {
      name,
      runtime: { id: 'scripted', config: script(server.url) },
      grants: [{ action: 'http.post', target: '*' }],
    });
    return name;
  });
  return names;
}

export interface Command {
  agent: string;
  /** Everything under one label goes into one session. */
  session: string;
  type: string;
  /** Names the command: the same again is the same input. */
  n: string | number;
  question?: string;
}

/** Answers the input's id; whichever process acknowledges it. */
export async function command(cluster: Cluster, { agent, session, type, n, question }: Command): Promise<string> {
  const { input_id } = await cluster.ask('POST', '/v1/inputs', {
    kind: 'command',
    type,
    source_event_id: `${agent}/${session}/${type}/${n}`,
    target: { agent },
    correlation_id: `${agent}/${session}`,
    data: { n, ...(question === undefined ? {} : { question }) },
  });
  return String(input_id);
}

export async function answer(cluster: Cluster, question: string): Promise<string> {
  const { input_id } = await cluster.ask('POST', '/v1/inputs', {
    kind: 'event',
    type: 'answer.given',
    source_event_id: `answer/${question}`,
    subject: { resource: question },
    data: {},
  });
  return String(input_id);
}

export interface DrivenRun {
  home: string;
  id: string;
  sessionId: string;
  status: string;
  holder: string;
  placementEpoch: number;
  attempt: number;
  leaseExpiresAt: Date;
  reasonCode: string | null;
}

/** The run under which an input is in work, once it has said that it holds. */
export async function holdingRun(sql: Sql, inputId: string, attempt = 1): Promise<DrivenRun> {
  let found: DrivenRun | undefined;
  await expect
    .poll(
      async () => {
        [found] = await sql<DrivenRun[]>`
          select r.home, r.id, r.session_id, r.status, r.holder, r.placement_epoch, r.attempt, r.lease_expires_at,
                 r.reason_code
            from foundation.runs r
            join foundation.candidates c on c.home = r.home and c.run_id = r.id
           where c.input_id = ${inputId} and r.status = 'running' and r.attempt >= ${attempt}
             and exists (select 1 from foundation.run_events e
                          where e.home = r.home and e.run_id = r.id and e.data ->> 'value' = 'holding')`;
        return found !== undefined;
      },
      { timeout: 20_000, interval: 50, message: `a run that holds, attempt ${attempt}` },
    )
    .toBe(true);
  if (!found) throw new Error('no run holds');
  return found;
}

export async function runById(sql: Sql, id: string): Promise<DrivenRun> {
  const [run] = await sql<DrivenRun[]>`
    select home, id, session_id, status, holder, placement_epoch, attempt, lease_expires_at, reason_code
      from foundation.runs where id = ${id}`;
  if (!run) throw new Error(`there is no run ${id}`);
  return run;
}

/** Gives agents work that lasts until each of two processes has some; by the names of the processes. */
export async function holdOnBoth(
  cluster: Cluster,
  { agentCount, inputs, session = 'held' }: { agentCount: number; inputs: string[]; session?: string },
): Promise<Map<string, DrivenRun>> {
  const held = new Map<string, DrivenRun>();
  for (let n = 1; n < agentCount && held.size < 2; n += 1) {
    const id = await command(cluster, { agent: `agent${n}`, session, type: 'hold.on', n });
    inputs.push(id);
    const run = await holdingRun(cluster.sql, id);
    const { name } = await cluster.processOf(run.holder);
    if (held.has(name)) await release(cluster, run.id);
    else held.set(name, run);
  }
  expect([...held.keys()].sort()).toEqual(['p0', 'p1']);
  return held;
}

/** A heartbeat of each of their processes later. */
export async function untilRenewed(cluster: Cluster, held: Iterable<DrivenRun>): Promise<void> {
  const renewed = [...held].map(async ({ id }) => {
    const { leaseExpiresAt } = await runById(cluster.sql, id);
    await expect
      .poll(async () => (await runById(cluster.sql, id)).leaseExpiresAt.getTime(), { timeout: 10_000, interval: 100 })
      .toBeGreaterThan(leaseExpiresAt.getTime());
  });
  await Promise.all(renewed);
}

export async function release(cluster: Cluster, runId: string): Promise<void> {
  await cluster.ask('POST', `/v1/runs/${runId}/controls`, { verb: 'steer', control_id: `release-${runId}`, data: {} });
}

/** Nothing is left to do: every input decided, every run ended, no session busy, every effect settled. */
export async function atRest(cluster: Cluster, { timeout = 30_000, suspended = 0 } = {}): Promise<void> {
  const rest = { unread: 0, undecided: 0, unended: 0, active: 0, suspended, unsettled: 0 };
  await expect
    .poll(() => workLeft(cluster.sql), { timeout, interval: 100, message: 'the domain comes to rest' })
    .toEqual(rest);
}

export async function workLeft(sql: Sql): Promise<unknown> {
  const [left] = await sql`
    select (select count(*) from foundation.inputs where position is null) as unread,
           (select count(*) from foundation.input_log_heads where resolved_position < position) as undecided,
           (select count(*) from foundation.runs where status in ('queued', 'running')) as unended,
           (select count(*) from foundation.sessions where state = 'active') as active,
           (select count(*) from foundation.sessions where state = 'suspended') as suspended,
           (select count(*) from foundation.effects where status not in ('succeeded', 'failed')) as unsettled`;
  return { ...left };
}

const sendersAtOnce = 8;

/** Sends by a few senders beside each other, as several producers would; answers in the order of the items. */
export async function sendAll<T>(
  items: readonly T[],
  send: (item: T, index: number) => Promise<string>,
): Promise<string[]> {
  const ids: string[] = [];
  const rest = items.entries();
  const sender = async () => {
    for (const [index, item] of rest) ids[index] = await send(item, index);
  };
  await Promise.all(Array.from({ length: sendersAtOnce }, sender));
  return ids;
}

/** Every one of them has been decided on. */
export async function untilDecided(sql: Sql, inputIds: readonly string[]): Promise<void> {
  await expect
    .poll(async () => sql`select distinct input_id from foundation.candidates where input_id = any(${[...inputIds]})`, {
      timeout: 10_000,
      interval: 20,
    })
    .toHaveLength(inputIds.length);
}
