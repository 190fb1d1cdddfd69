import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Activation,
  drainRuns,
  keepLeases,
  missingRuntime,
  type RuntimeEvent,
  type RuntimeKind,
  reapRuns,
  resolveInputs,
  runLimits,
  startRuns,
} from '../../../src/foundation/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, Killed, killedAt, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;

beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 12 });
});
afterAll(() => test.drop());
beforeEach(() => {
  world = openFoundationWorld(test.database);
});
afterEach(async () => {
  for (const run of world.parts.live.list()) run.stop('lost');
  await world.parts.live.idle();
});

const working = {
  rules: [
    {
      when: { type: 'test.work' },
      steps: [
        { propose: { id: 'effect', action: 'count.once', target: 'x', input: { n: { $ref: '/activation/data' } } } },
        { complete: { $ref: '/activation/data' } },
      ],
    },
    { when: { type: 'test.stuck' }, steps: [{ await: 'steer' }, { complete: 'steered' }] },
  ],
  supports: { steer: true },
};
const session = { resource: 'one-session' };

async function begin(parts = world.parts): Promise<void> {
  await resolveInputs(parts);
  await startRuns(parts);
}

describe('F6: one writer per session, in order', () => {
  it('two hosts and many inputs: the log order is kept, no two runs at once, the session ends idle', async () => {
    const agent = await world.addAgent({ script: working });
    const count = process.env.HEARTH_TEST_LONG ? 1_000 : 120;
    for (let n = 0; n < count; n += 1) await world.send({ target: { agent: agent.agent }, subject: session, data: n });
    const other = world.host();
    await world.settle([world.parts, other]);
    const runs = await world.runs(agent);
    expect(runs.map(({ result }) => result)).toEqual(Array.from({ length: count }, (_, n) => n));
    expect(new Set(runs.map(({ sessionId }) => sessionId)).size).toBe(1);
    const overlaps = runs.filter((run, index) => index > 0 && (run.startedAt ?? 0) < (runs[index - 1]?.endedAt ?? 0));
    expect(overlaps).toEqual([]);
    expect(world.dispatched.size).toBe(count);
  }, 120_000);

  it('D17: while one live host has the placement, another starts none of the agent’s runs', async () => {
    const agent = await world.addAgent({ script: working });
    await world.send({ type: 'test.stuck', target: { agent: agent.agent } });
    await begin();
    await world.send({ target: { agent: agent.agent } });
    const other = world.host();
    await begin(other);
    expect(other.live.list()).toEqual([]);
    expect((await world.runs(agent)).map(({ status }) => status)).toEqual(['running', 'queued']);
  });
});

describe('BR-41: a host that dies', () => {
  it('its run ends failed, its input and the five behind it are all done, in order, without help', async () => {
    const agent = await world.addAgent({ script: working });
    const target = { agent: agent.agent };
    const doomed = world.host({ db: killedAt(test.database, { transaction: 6, moment: 'before' }) });
    await world.send({ target, subject: session, data: 0 });
    await begin(doomed).catch(expectKilled);
    await doomed.live.idle();
    for (let n = 1; n <= 5; n += 1) await world.send({ target, subject: session, data: n });
    await world.expire();
    await reapRuns(world.parts);
    await world.settle();
    const runs = await world.runs(agent);
    expect(runs[0]).toMatchObject({ status: 'failed', reasonCode: 'lease_expired', attempt: 1 });
    expect(runs[1]).toMatchObject({ retryOfRunId: runs[0]?.id, attempt: 2, inputLogCursor: runs[0]?.inputLogCursor });
    expect(runs.slice(1).map(({ result }) => result)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(runs[1]?.placementEpoch).toBe((runs[0]?.placementEpoch ?? 0) + 1);
    // F12: the second attempt found the first one's effect.
    expect([...world.dispatched.values()]).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it('killed at any commit of a run, the run is done once more and its effect is not', async () => {
    for (let transaction = 1; transaction <= 9; transaction += 1) {
      for (const moment of ['before', 'after'] as const) {
        const agent = await world.addAgent({ script: working });
        const input = await world.send({ target: { agent: agent.agent }, data: transaction });
        await begin(world.host({ db: killedAt(test.database, { transaction, moment }) })).catch(expectKilled);
        await world.expire();
        await reapRuns(world.parts);
        await world.settle();
        const done = (await world.runs(agent)).filter(({ status }) => status === 'completed');
        expect(done.length, `${transaction} ${moment}`).toBe(1);
        expect((await world.view(input)).dispositions, `${transaction} ${moment}`).toMatchObject([
          { status: 'consumed', runId: done[0]?.id },
        ]);
      }
    }
    expect([...world.dispatched.values()].every((count) => count === 1)).toBe(true);
    expect(world.dispatched.size).toBe(18);
  }, 120_000);

  it(`after ${runLimits.attempts} attempts the input is failed, and the lane goes on`, async () => {
    const agent = await world.addAgent({ script: working });
    const target = { agent: agent.agent };
    const input = await world.send({ type: 'test.stuck', target, subject: session });
    const next = await world.send({ target, subject: session, data: 'next' });
    for (let attempt = 1; attempt <= runLimits.attempts; attempt += 1) {
      const host = world.host();
      await begin(host);
      expect(host.live.list()).toHaveLength(1);
      host.live.list()[0]?.stop('lost');
      await host.live.idle();
      await world.expire();
      await reapRuns(host);
    }
    await world.settle();
    expect(await world.view(input)).toMatchObject({ dispositions: [{ status: 'failed' }] });
    expect(await world.view(next)).toMatchObject({ dispositions: [{ status: 'consumed' }] });
  });

  it('a steer told to the dead attempt is told to the next one', async () => {
    const agent = await world.addAgent({ script: working });
    await world.send({ type: 'test.stuck', target: { agent: agent.agent } });
    const doomed = world.host();
    await begin(doomed);
    const [run] = await world.runs(agent);
    doomed.live.list()[0]?.stop('lost');
    await doomed.live.idle();
    const steer = await world.send(
      { kind: 'control', type: 'run.control', target: { run: run?.id ?? '' } },
      { control: { verb: 'steer', authority: 'test' } },
    );
    await resolveInputs(doomed);
    await world.expire();
    await reapRuns(world.parts);
    await world.settle();
    expect((await world.runs(agent))[1]).toMatchObject({ status: 'completed', result: 'steered' });
    expect(await world.view(steer)).toMatchObject({ dispositions: [{ decision: 'STEER', status: 'consumed' }] });
  });

  it('a run that somebody wanted to end is not tried again', async () => {
    const agent = await world.addAgent({ script: working });
    await world.send({ type: 'test.stuck', target: { agent: agent.agent } });
    const doomed = world.host();
    await begin(doomed);
    const [run] = await world.runs(agent);
    doomed.live.list()[0]?.stop('lost');
    await doomed.live.idle();
    await world.send(
      { kind: 'control', type: 'run.control', target: { run: run?.id ?? '' } },
      { control: { verb: 'cancel', authority: 'test' } },
    );
    await resolveInputs(doomed);
    await world.expire();
    await reapRuns(world.parts);
    await world.settle();
    expect(await world.runs(agent)).toMatchObject([{ status: 'cancelled', reasonCode: 'control_cancel' }]);
  });
});

describe('leases', () => {
  it('kept, a run outlives its first lease; not kept, it ends', async () => {
    const agent = await world.addAgent({ script: working });
    await world.send({ type: 'test.stuck', target: { agent: agent.agent } });
    await begin();
    await test.database
      .sql`update foundation.runs set lease_expires_at = hearth_lease_now() + interval '1 second' where status = 'running'`;
    await keepLeases(world.parts);
    const [run] = await world.runs(agent);
    const [left] = await test.database.sql<{ ms: number }[]>`
      select (extract(epoch from lease_expires_at - hearth_lease_now()) * 1000)::integer as ms from foundation.runs where id = ${run?.id ?? ''}`;
    expect(left?.ms).toBeGreaterThan(runLimits.leaseMs - 1_000);
  });

  it.each(['say', 'propose', 'complete'] as const)(
    'BR-55, BR-57: a host that lost the placement can no longer %s; the first end stands',
    async (act) => {
      const gate = openGate();
      const began = openGate();
      const late = openFoundationWorld(test.database, {
        kinds: [lateRuntime({ gate: gate.opened, began: began.open }, act)],
      });
      const agent = await late.addAgent({ runtimeId: 'late' });
      await late.send({ target: { agent: agent.agent } });
      const old = late.host();
      await begin(old);
      await began.opened;
      await late.expire();
      await reapRuns(late.parts);
      const [run] = await late.runs(agent);
      gate.open();
      await old.live.idle();
      const [first, second] = await late.runs(agent);
      expect(first).toMatchObject({ status: 'failed', reasonCode: 'lease_expired', result: null });
      expect(second).toMatchObject({ status: 'queued', retryOfRunId: first?.id });
      expect(await late.events(run?.id ?? '')).toEqual(['run.started', 'context.bundle', 'run.failed']);
      expect(late.dispatched.size).toBe(0);
      const audited = await test.database.sql`
        select action, outcome from foundation.audit_entries where home = ${agent.home} order by at`;
      expect(audited).toContainEqual({ action: 'run.end', outcome: 'lease_expired' });
      if (act === 'complete') expect(audited).toContainEqual({ action: 'run.settle', outcome: 'ignored' });
      if (act === 'propose') expect(audited).toContainEqual({ action: 'effect.propose', outcome: 'refused' });
    },
  );

  it('drained, a host gives back what does not end in time, and another goes on at once', async () => {
    const agent = await world.addAgent({ script: working });
    const input = await world.send({ type: 'test.stuck', target: { agent: agent.agent } });
    const leaving = world.host();
    await begin(leaving);
    await drainRuns(leaving, { graceMs: 10 });
    expect(leaving.live.free()).toBe(0);
    await startRuns(world.parts);
    const [first, second] = await world.runs(agent);
    expect(first).toMatchObject({ status: 'failed', reasonCode: 'host_stopping' });
    // An orderly stop says nothing about the input, so it costs no attempt.
    expect(second).toMatchObject({ status: 'running', attempt: 1, retryOfRunId: first?.id });
    expect((await world.view(input)).dispositions).toMatchObject([{ status: 'running', runId: second?.id }]);
  });
});

it('a host whose database is gone drains to its end; the leases say the rest', async () => {
  const agent = await world.addAgent({ script: working });
  await world.send({ type: 'test.stuck', target: { agent: agent.agent } });
  const leaving = world.host();
  await begin(leaving);
  const gone: typeof leaving.db.transact = () =>
    Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }));
  await drainRuns({ ...leaving, db: { ...leaving.db, transact: gone } }, { graceMs: 10 });
  expect(leaving.live.list()).toEqual([]);
  await world.expire();
  await reapRuns(world.parts);
  expect(await world.runs(agent)).toMatchObject([{ reasonCode: 'lease_expired' }, { status: 'queued' }]);
});

function expectKilled(error: unknown): void {
  if (!(error instanceof Killed)) throw error;
}

/** A runtime that has not noticed anything and acts when the gate opens, deaf to its signal. */
function lateRuntime(
  { gate, began }: { gate: Promise<void>; began: () => void },
  act: 'say' | 'propose' | 'complete',
): RuntimeKind {
  const descriptor = { ...missingRuntime('late'), runtime_version: '1' };
  async function* activate(activation: Activation): AsyncGenerator<RuntimeEvent> {
    began();
    await gate;
    if (act === 'say') yield { type: 'output', data: 'late' };
    if (act === 'propose')
      await activation.propose({ proposalId: 'late', action: 'count.once', target: 'x', input: {} });
    yield { type: 'run.completed', result: 'late' };
  }
  return { id: 'late', checkConfig: () => undefined, open: () => ({ describe: () => descriptor, activate }) };
}

function openGate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
