/**
 * Two processes of one domain on one PostgreSQL share the work: each may be killed, stopped or drained at any time, with its
 * clock wrong, and nothing is lost, doubled or stranded (F6, D17, BR-41, BR-42, BR-52).
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/platform/index.js';
import { atRest, faultsOf, sharesOf } from './history.js';
import { type Host, type Hosts, openHosts } from './hosts.js';

let hosts: Hosts;
let first: Host;
const clock = systemClock();
const script = {
  supports: { steer: true },
  rules: [
    { when: { type: 'test.work' }, steps: [{ say: 'at work' }, { complete: { $ref: '/activation/data' } }] },
    { when: { type: 'test.stuck' }, steps: [{ await: 'steer' }, { complete: 'steered' }] },
    {
      when: { type: 'test.wait' },
      steps: [
        { suspend: { reason: 'r', until: [{ type: 'test.answer', subject: '{{/activation/subject/resource}}' }] } },
        { complete: { $ref: '/activation/data' } },
      ],
    },
  ],
};

beforeAll(async () => {
  hosts = await openHosts();
  first = await hosts.start();
}, 60_000);
afterAll(() => hosts.stop());
afterEach(async () => {
  await atRest(hosts.db, 20_000);
  expect(await faultsOf(hosts.db)).toEqual([]);
}, 30_000);

let count = 0;
async function addAgent(): Promise<string> {
  count += 1;
  const name = `agent-${count}`;
  const made = await first.api('POST', '/admin/v1/agents', { name, runtime: { id: 'scripted', config: script } });
  expect(made.status).toBe(201);
  return name;
}

async function send(host: Host, agent: string, input: object = {}): Promise<string> {
  count += 1;
  const sent = await host.api('POST', '/v1/inputs', {
    kind: 'command',
    type: 'test.work',
    source_event_id: `event-${count}`,
    target: { agent },
    ...input,
  });
  expect(sent.status).toBe(202);
  return sent.text('input_id');
}

/** The runs of an input, the first attempt first. */
async function runsOf(inputId: string) {
  return hosts.db.sql<
    { id: string; home: string; status: string; reasonCode: string | null; holder: string; placementEpoch: number }[]
  >`
    select r.id, r.home, r.status, r.reason_code, r.holder, r.placement_epoch
      from foundation.runs r
      join foundation.candidates c on c.home = r.home and c.id = r.activation_candidate_id
     where c.input_id = ${inputId}
     order by r.created_at`;
}

/** The run of an input that is under way; another than the given. */
async function running(inputId: string, other?: { id: string }) {
  const isMeant = (run: { id: string; status: string }) => run.status === 'running' && run.id !== other?.id;
  return vi.waitUntil(async () => (await runsOf(inputId)).find(isMeant), { timeout: 15_000, interval: 20 });
}

async function steer(host: Host, runId: string): Promise<void> {
  expect((await host.api('POST', `/v1/runs/${runId}/controls`, { verb: 'steer' })).status).toBe(202);
}

describe('hosts', () => {
  it('a later process gets agents that an earlier one had claimed, each does a fair part', async () => {
    const agents = await Promise.all(Array.from({ length: 12 }, addAgent));
    for (const agent of agents) await send(first, agent);
    await atRest(hosts.db, 10_000);
    const before = await sharesOf(hosts.db);
    const second = await hosts.start();
    const subjects = Array.from({ length: 40 }, (_, index) => ({ resource: `s-${index}` }));
    for (const subject of subjects)
      await Promise.all(agents.map((agent, index) => send(index % 2 ? first : second, agent, { subject })));
    await atRest(hosts.db, 20_000);
    const after = await sharesOf(hosts.db);
    const mine = (host: Host) => (after.get(host.instance) ?? 0) - (before.get(host.instance) ?? 0);
    expect(mine(first) + mine(second)).toBe(agents.length * subjects.length);
    expect(Math.min(mine(first), mine(second))).toBeGreaterThanOrEqual(0.2 * agents.length * subjects.length);
    second.signal('SIGTERM');
    expect(await second.ended()).toBe(0);
  }, 60_000);

  it('BR-41: kill -9 in mid-run with five queued behind it: another has the session within 10 s, in order', async () => {
    const agent = await addAgent();
    const doomed = await hosts.start();
    first.signal('SIGSTOP');
    const subject = { resource: 'five' };
    const stuck = await send(doomed, agent, { type: 'test.stuck', subject });
    const run = await running(stuck);
    expect(run.holder).toBe(doomed.instance);
    const behind = [];
    for (let n = 0; n < 5; n += 1) behind.push(await send(doomed, agent, { subject, data: n }));
    doomed.signal('SIGKILL');
    first.signal('SIGCONT');
    await doomed.ended();
    const killedAtMs = clock.monotonicMs();
    const again = await running(stuck, run);
    expect(clock.monotonicMs() - killedAtMs).toBeLessThan(10_000);
    expect(again).toMatchObject({ holder: first.instance, placementEpoch: run.placementEpoch + 1 });
    expect((await runsOf(stuck))[0]).toMatchObject({ status: 'failed', reasonCode: 'lease_expired' });
    await steer(first, again.id);
    await atRest(hosts.db, 10_000);
    const results = await hosts.db.sql<{ result: number }[]>`
      select r.result
        from foundation.runs r
        join foundation.candidates c on c.home = r.home and c.id = r.activation_candidate_id
       where c.input_id = any(${behind})
       order by r.started_at`;
    expect(results.map(({ result }) => result)).toEqual([0, 1, 2, 3, 4]);
  }, 60_000);

  it('BR-41: a process that comes again is another host, whatever its pid', async () => {
    const second = await hosts.start();
    const third = await hosts.start();
    expect(new Set([first.instance, second.instance, third.instance]).size).toBe(3);
    second.signal('SIGKILL');
    third.signal('SIGTERM');
    await Promise.all([second.ended(), third.ended()]);
  }, 60_000);

  it('D17, BR-52: stopped for longer than its lease, a process wakes to write nothing, and takes new work', async () => {
    const agent = await addAgent();
    const sleeper = await hosts.start();
    first.signal('SIGSTOP');
    const stuck = await send(sleeper, agent, { type: 'test.stuck' });
    const old = await running(stuck);
    sleeper.signal('SIGSTOP');
    first.signal('SIGCONT');
    const again = await running(stuck, old);
    expect(again.holder).toBe(first.instance);
    sleeper.signal('SIGCONT');
    // Its runtime is stopped, and what it would have said is not written.
    await vi.waitUntil(() => sleeper.said().includes('a run is given up here'), { timeout: 10_000, interval: 20 });
    const events = await hosts.db.sql`select type from foundation.run_events where run_id = ${old.id} order by seq`;
    expect(events.at(-1)).toEqual({ type: 'run.failed' });
    await steer(sleeper, again.id);
    await atRest(hosts.db, 10_000);
    first.signal('SIGSTOP');
    const later = await send(sleeper, agent);
    await vi.waitUntil(async () => (await runsOf(later)).some(({ status }) => status === 'completed'), {
      timeout: 15_000,
      interval: 50,
    });
    first.signal('SIGCONT');
    const taken = (await runsOf(later)).at(-1);
    expect(taken?.holder).toBe(sleeper.instance);
    expect(taken?.placementEpoch).toBeGreaterThan(again.placementEpoch);
    sleeper.signal('SIGTERM');
    expect(await sleeper.ended()).toBe(0);
  }, 60_000);

  it('BR-52: clocks five minutes apart, and one stepped by 8 h and back: no live lease is taken over', async () => {
    const agent = await addAgent();
    const hour = 3_600_000;
    const fast = await hosts.start({ skewMs: 300_000, stepsMs: [8 * hour, -16 * hour, 8 * hour] });
    const stuck = [
      await send(first, agent, { type: 'test.stuck' }),
      await send(fast, await addAgent(), { type: 'test.stuck' }),
    ];
    const before = [];
    for (const input of stuck) before.push(await running(input));
    for (let step = 0; step < 3; step += 1) {
      fast.signal('SIGUSR2');
      await clock.sleep(2_500);
    }
    const now = [];
    for (const input of stuck) now.push(await running(input));
    expect(now).toEqual(before);
    for (const { id } of now) await steer(fast, id);
    await atRest(hosts.db, 10_000);
    fast.signal('SIGTERM');
    expect(await fast.ended()).toBe(0);
  }, 60_000);

  it('BR-42: a rolling restart while 100 waits are answered: each continues once, none is stranded', async () => {
    const waits = 100;
    const agents = await Promise.all(Array.from({ length: 4 }, addAgent));
    const subjectOf = (n: number) => ({ resource: `wait-${n}` });
    for (let n = 0; n < waits; n += 1)
      await send(first, agents[n % agents.length] ?? '', { type: 'test.wait', subject: subjectOf(n), data: n });
    await vi.waitUntil(async () => (await openWaits()) === waits, { timeout: 20_000, interval: 50 });
    const second = await hosts.start();
    let current = first;
    const answers = (async () => {
      for (let n = 0; n < waits; n += 1)
        await retried(() => send(n % 2 ? second : current, agents[0] ?? '', answerOf(n)));
    })();
    const leaving = first;
    await vi.waitUntil(async () => (await openWaits()) < waits, { timeout: 10_000, interval: 5 });
    leaving.signal('SIGTERM');
    const drainedAt = await databaseNow();
    current = second;
    expect(await leaving.ended()).toBe(0);
    first = await hosts.start();
    current = first;
    await answers;
    await atRest(hosts.db, 20_000);
    expect(await openWaits()).toBe(0);
    const [continued] = await hosts.db.sql<{ runs: number; waits: number; late: number }[]>`
      select count(*) filter (where status = 'completed') as runs,
             count(distinct resumed_from_run_id) filter (where status = 'completed') as waits,
             count(*) filter (where holder = ${leaving.instance} and started_at > ${drainedAt}::timestamptz + interval '200 ms') as late
        from foundation.runs
       where resumed_from_run_id is not null`;
    expect(continued).toEqual({ runs: waits, waits, late: 0 });
    second.signal('SIGTERM');
    expect(await second.ended()).toBe(0);

    function answerOf(n: number): object {
      return { kind: 'event', type: 'test.answer', subject: subjectOf(n), source_event_id: `answer-${n}` };
    }
  }, 90_000);
});

async function openWaits(): Promise<number> {
  const [row] = await hosts.db.sql<{ count: number }[]>`
    select count(*) as count from foundation.suspensions where status = 'open'`;
  return row?.count ?? 0;
}

async function databaseNow(): Promise<Date> {
  const [row] = await hosts.db.sql<{ now: Date }[]>`select hearth_now() as now`;
  if (!row) throw new Error('no time');
  return row.now;
}

/** A door that closes refuses, and the sender tries the next one. */
async function retried<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (attempt === 100) throw error;
      await clock.sleep(50);
    }
  }
}
