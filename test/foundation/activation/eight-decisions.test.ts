import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveInputs, startRuns } from '../../../src/foundation/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => {
  world = openFoundationWorld(test.database);
});

const waiting = {
  rules: [
    {
      when: { type: 'test.wait' },
      steps: [
        { suspend: { reason: 'waits', until: [{ type: 'test.answer', subject: '{{/activation/subject/resource}}' }] } },
        { complete: { answer: { $ref: '/activation/data' } } },
      ],
    },
    { when: { type: 'test.*' }, steps: [{ complete: { took: { $ref: '/activation/type' } } }] },
  ],
};
const steerable = {
  rules: [{ when: { type: 'test.*' }, steps: [{ await: 'steer' }, { complete: { told: { $ref: '/steered/data' } } }] }],
  supports: { steer: true },
};
const control = (
  verb: 'cancel' | 'interrupt' | 'steer' | 'resume' | 'fork',
  target: { run?: string; session?: string },
  data = {},
) =>
  world.send(
    { kind: 'control', type: 'run.control', target, data },
    { control: { verb, authority: 'human://alpha.test/users/u' } },
  );

/** Decides what is there and starts runs, without waiting for them to end. */
async function begin(): Promise<void> {
  const { parts } = world;
  await resolveInputs(parts);
  await startRuns(parts);
}

describe('the eight decisions, as they are told (F3, F5)', () => {
  it('IGNORE: an input that concerns nobody is kept with its reason', async () => {
    const nobody = await world.send({ kind: 'event', type: 'test.unheard' });
    const unknown = await world.send({ target: { agent: 'agent://alpha.test/agents/none' } });
    const untargeted = await world.send({});
    await world.settle();
    expect(await world.decision(nobody)).toBe('IGNORE no_candidate');
    expect(await world.decision(unknown)).toBe('IGNORE unknown_target');
    expect(await world.decision(untargeted)).toBe('IGNORE no_target');
    expect(await world.view(nobody)).toMatchObject({ activationRefs: [], runRefs: [] });
  });

  it('PROJECT: context and unsubscribed events reach the environment of the agent and wake nobody', async () => {
    const agent = await world.addAgent({ script: waiting });
    const target = { agent: agent.agent };
    const context = await world.send({
      kind: 'context',
      type: 'test.note',
      target,
      subject: { resource: 'r:1' },
      data: { v: 1 },
    });
    const event = await world.send({
      kind: 'event',
      type: 'test.happened',
      target,
      subject: { resource: 'r:1' },
      data: { v: 2 },
    });
    await world.settle();
    expect(await world.decision(context)).toBe('PROJECT context_never_wakes');
    expect(await world.decision(event)).toBe('PROJECT event_not_subscribed');
    expect(await world.runs(agent)).toEqual([]);
    const [state] = await test.database
      .sql`select version, state from foundation.environment_states where home = ${agent.home}`;
    expect(state).toMatchObject({ version: 2, state: { data: { v: 2 } } });
  });

  it('ACTIVATE: a command and a subscribed event each get a run', async () => {
    const agent = await world.addAgent({ script: waiting });
    await world.subscribe(agent, { type: 'test.*' });
    const command = await world.send({ target: { agent: agent.agent } });
    const event = await world.send({ kind: 'event', type: 'test.happened' });
    await world.settle();
    expect(await world.decision(command)).toBe('ACTIVATE command');
    expect(await world.decision(event)).toBe('ACTIVATE event_subscribed');
    const view = await world.view(command);
    expect(view.dispositions).toMatchObject([{ route: 'target', status: 'consumed', runId: view.runRefs[0] }]);
    expect((await world.runs(agent)).map((run) => run.status)).toEqual(['completed', 'completed']);
  });

  it('RESUME: the first match of a wait goes on in a new run that names the old one (F7, F14)', async () => {
    const agent = await world.addAgent({ script: waiting });
    await world.send({ type: 'test.wait', target: { agent: agent.agent }, subject: { resource: 'r:2' } });
    await world.settle();
    const other = await world.send({ kind: 'event', type: 'test.answer', subject: { resource: 'r:other' } });
    const answer = await world.send({ kind: 'event', type: 'test.answer', subject: { resource: 'r:2' }, data: 'yes' });
    const late = await world.send({ kind: 'event', type: 'test.answer', subject: { resource: 'r:2' }, data: 'again' });
    await world.settle();
    expect(await world.decision(other)).toBe('IGNORE no_candidate');
    expect(await world.decision(answer)).toBe('RESUME suspension_matched');
    expect(await world.decision(late)).toBe('IGNORE no_candidate');
    const [first, second] = await world.runs(agent);
    expect(first).toMatchObject({ status: 'suspended' });
    expect(second).toMatchObject({ status: 'completed', resumedFromRunId: first?.id, result: { answer: 'yes' } });
  });

  it('ENQUEUE: what meets a wait follows after its continuation, in order (F6)', async () => {
    const agent = await world.addAgent({ script: waiting });
    const target = { agent: agent.agent };
    const subject = { resource: 'r:3' };
    await world.send({ type: 'test.wait', target, subject });
    await world.settle();
    const queued = await world.send({ type: 'test.more', target, subject });
    await world.settle();
    expect(await world.decision(queued)).toBe('ENQUEUE session_suspended');
    await world.send({ kind: 'event', type: 'test.answer', subject });
    await world.settle();
    const runs = await world.runs(agent);
    expect(runs.map((run) => run.status)).toEqual(['suspended', 'completed', 'completed']);
    expect(runs[2]?.result).toEqual({ took: 'test.more' });
    expect(new Set(runs.map((run) => run.sessionId)).size).toBe(1);
  });

  it('STEER: reaches the live run; F8: a runtime that cannot be steered enqueues it', async () => {
    const agent = await world.addAgent({ script: steerable });
    const rigid = await world.addAgent({ script: { ...steerable, supports: { steer: false } } });
    for (const { agent: address } of [agent, rigid])
      await world.send({ type: 'test.long', target: { agent: address } });
    await begin();
    const [run] = await world.runs(agent);
    const [stuck] = await world.runs(rigid);
    const steer = await control('steer', { run: run?.id ?? '' }, { hint: 7 });
    const enqueued = await control('steer', { run: stuck?.id ?? '' });
    await control('cancel', { run: stuck?.id ?? '' });
    await world.settle();
    expect(await world.decision(steer)).toBe('STEER control_steer');
    expect(await world.decision(enqueued)).toBe('ENQUEUE steer_unsupported');
    expect(await world.view(steer)).toMatchObject({ dispositions: [{ status: 'consumed' }], runRefs: [run?.id] });
    expect((await world.runs(agent))[0]).toMatchObject({ status: 'completed', result: { told: { hint: 7 } } });
  });

  it('a steer that its run never took is not lost: it goes into the lane', async () => {
    const script = {
      rules: [
        { when: { type: 'test.long' }, steps: [{ await: 'steer' }, { complete: 1 }] },
        { when: { type: 'run.control' }, steps: [{ complete: 'from the lane' }] },
      ],
      supports: { steer: true },
    };
    const agent = await world.addAgent({ script });
    await world.send({ type: 'test.long', target: { agent: agent.agent } });
    await begin();
    const [run] = await world.runs(agent);
    await control('steer', { run: run?.id ?? '' });
    const second = await control('steer', { run: run?.id ?? '' });
    await world.settle();
    expect(await world.decision(second)).toBe('STEER run_ended_before_steer');
    expect((await world.runs(agent)).map((ended) => ended.result)).toEqual([1, 'from the lane']);
  });

  it('INTERRUPT: ends a live run, a queued run before it starts, and a wait; to a run that is over it is nothing', async () => {
    const agent = await world.addAgent({ script: steerable });
    await world.send({ type: 'test.long', target: { agent: agent.agent } });
    await begin();
    const [run] = await world.runs(agent);
    const cancel = await control('cancel', { run: run?.id ?? '' });
    await world.settle();
    expect(await world.decision(cancel)).toBe('INTERRUPT control_cancel');
    expect((await world.runs(agent))[0]).toMatchObject({ status: 'cancelled', reasonCode: 'control_cancel' });

    const waiter = await world.addAgent({ script: waiting });
    const subject = { resource: 'r:4' };
    await world.send({ type: 'test.wait', target: { agent: waiter.agent }, subject });
    await world.settle();
    const [suspended] = await world.runs(waiter);
    const interrupt = await control('interrupt', { run: suspended?.id ?? '' });
    const answer = await world.send({ kind: 'event', type: 'test.answer', subject });
    const late = await control('cancel', { run: run?.id ?? '' });
    await world.settle();
    expect(await world.decision(interrupt)).toBe('INTERRUPT control_interrupt');
    expect(await world.decision(answer)).toBe('IGNORE no_candidate');
    expect(await world.decision(late)).toBe('IGNORE nothing_to_interrupt');
    expect(await world.runs(waiter)).toHaveLength(1);
  });

  it('FORK: a branch goes on from a copy of the state, and the original still waits', async () => {
    const agent = await world.addAgent({ script: waiting });
    const subject = { resource: 'r:5' };
    await world.send({ type: 'test.wait', target: { agent: agent.agent }, subject });
    await world.settle();
    const [first] = await world.runs(agent);
    const fork = await control('fork', { session: first?.sessionId ?? '' }, { branch: true });
    await world.settle();
    expect(await world.decision(fork)).toBe('FORK control_fork');
    const branch = (await world.runs(agent))[1];
    expect(branch).toMatchObject({ status: 'completed', result: { answer: { branch: true } } });
    expect(branch?.sessionId).not.toBe(first?.sessionId);
    const answer = await world.send({ kind: 'event', type: 'test.answer', subject, data: 1 });
    await world.settle();
    expect(await world.decision(answer)).toBe('RESUME suspension_matched');
  });

  it('a control without authority, and one that names another tenant’s run, change nothing', async () => {
    const agent = await world.addAgent({ script: steerable, tenant: 'other' });
    await world.send({ type: 'test.long', target: { agent: agent.agent } }, { tenant: 'other' });
    await begin();
    const [run] = await world.runs(agent);
    const foreign = await control('cancel', { run: run?.id ?? '' });
    await expect(world.send({ kind: 'control', target: { run: run?.id ?? '' } })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await begin();
    expect(await world.decision(foreign)).toBe('IGNORE unknown_target');
    expect((await world.runs(agent))[0]).toMatchObject({ status: 'running' });
    world.parts.live.list()[0]?.stop('lost');
    await world.parts.live.idle();
    await test.database
      .sql`update foundation.runs set status = 'failed', ended_at = hearth_now() where status = 'running'`;
  });

  it('a paused agent is decided on, and its run waits until it is active again; an ended one ignores', async () => {
    const paused = await world.addAgent({ script: waiting, status: 'paused' });
    const ended = await world.addAgent({ script: waiting, status: 'ended' });
    const command = await world.send({ target: { agent: paused.agent } });
    const ignored = await world.send({ target: { agent: ended.agent } });
    await begin();
    await world.parts.live.idle();
    expect(await world.decision(command)).toBe('ACTIVATE command');
    expect(await world.decision(ignored)).toBe('IGNORE agent_ended');
    expect((await world.runs(paused))[0]).toMatchObject({ status: 'queued' });
    paused.status = 'active';
    await world.settle();
    expect((await world.runs(paused))[0]).toMatchObject({ status: 'completed' });
  });
});
