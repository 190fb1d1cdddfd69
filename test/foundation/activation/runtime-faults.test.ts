import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Activation,
  missingRuntime,
  type RuntimeEvent,
  type RuntimeKind,
  resolveInputs,
  runLimits,
  startRuns,
} from '../../../src/foundation/index.js';
import type { JsonValue } from '../../../src/protocol/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;
let act: (activation: Activation) => AsyncGenerator<RuntimeEvent>;

const kind: RuntimeKind = {
  id: 'faulty',
  checkConfig: () => undefined,
  open: () => ({
    describe: () => ({ ...missingRuntime('faulty'), runtime_version: '1' }),
    activate: (activation) => act(activation),
  }),
};

beforeAll(async () => {
  test = await createTestDatabase();
  world = openFoundationWorld(test.database, { kinds: [kind] });
});
afterAll(() => test.drop());

async function runOnce(runtime: typeof act) {
  act = runtime;
  const agent = await world.addAgent({ runtimeId: 'faulty' });
  await world.send({ target: { agent: agent.agent } });
  await world.settle();
  const runs = await world.runs(agent);
  expect(runs).toHaveLength(1);
  return { run: runs[0], events: await world.events(runs[0]?.id ?? '') };
}

const sayThenComplete = (data: JsonValue) =>
  async function* (): AsyncGenerator<RuntimeEvent> {
    yield { type: 'output', data };
    yield { type: 'run.completed', result: null };
  };

it('what a runtime throws fails its run, once', async () => {
  const { run, events } = await runOnce(async function* () {
    yield { type: 'output', data: 1 };
    throw new Error('broken');
  });
  expect(run).toMatchObject({ status: 'failed', reasonCode: 'runtime_error' });
  expect(events).toEqual(['run.started', 'context.bundle', 'output', 'run.failed']);
});

it('a runtime that stops without a word has failed', async () => {
  const { run } = await runOnce(async function* () {});
  expect(run).toMatchObject({ status: 'failed', reasonCode: 'runtime_ended_without_outcome' });
});

it('nothing follows the end of a run', async () => {
  const { run, events } = await runOnce(async function* () {
    yield { type: 'run.completed', result: 1 };
    yield { type: 'run.failed', reason: 'no' };
  });
  expect(run).toMatchObject({ status: 'completed', result: 1 });
  expect(events.filter((type) => type.startsWith('run.'))).toEqual(['run.started', 'run.completed']);
});

it('an event at its limit is kept, one byte more fails the run', async () => {
  const text = (bytes: number) => 'x'.repeat(bytes - 2);
  expect((await runOnce(sayThenComplete(text(runLimits.eventBytes)))).run).toMatchObject({ status: 'completed' });
  expect((await runOnce(sayThenComplete(text(runLimits.eventBytes + 1)))).run).toMatchObject({
    reasonCode: 'event_too_large',
  });
});

it.each(['a\u0000b', '\ud800', '\\\u0000'])('text that cannot be stored fails the run: %j', async (text) => {
  expect((await runOnce(sayThenComplete(text))).run).toMatchObject({ status: 'failed', reasonCode: 'event_malformed' });
  expect((await runOnce(sayThenComplete({ [text]: 1 }))).run).toMatchObject({ reasonCode: 'event_malformed' });
});

it('a backslash before u0000 is only text', async () => {
  expect((await runOnce(sayThenComplete('\\u0000'))).run).toMatchObject({ status: 'completed' });
});

it.each([[[]], [[{ type: 'not a type' }]], [Array.from({ length: 17 }, () => ({ type: 'a.b' }))]])(
  'a wait that nothing can end, or for too much, fails the run: %j',
  async (subscriptions) => {
    const { run } = await runOnce(async function* () {
      yield { type: 'run.suspended', reason: 'r', subscriptions, resumePolicy: 'first_match', runtimeState: null };
    });
    expect(run).toMatchObject({ status: 'failed', reasonCode: 'suspension_malformed' });
  },
);

it('F10: a model input record is stored with the run', async () => {
  const { run } = await runOnce(async function* () {
    yield { type: 'model.input', data: { prompt_version: '3' } };
    yield { type: 'run.completed', result: null };
  });
  expect(run).toMatchObject({ modelInputRecord: { prompt_version: '3' } });
});

it('a session without its runtime ends its runs with a reason', async () => {
  const agent = await world.addAgent({ runtimeId: 'absent' });
  await world.send({ target: { agent: agent.agent } });
  await world.settle();
  expect(await world.runs(agent)).toMatchObject([{ status: 'failed', reasonCode: 'runtime_unavailable' }]);
});

it('a runtime that is deaf to a cancel is left behind, and its session goes on', async () => {
  let begun = (): void => undefined;
  const began = new Promise<void>((resolve) => {
    begun = resolve;
  });
  act = async function* () {
    begun();
    await new Promise(() => undefined);
  };
  const agent = await world.addAgent({ runtimeId: 'faulty' });
  const target = { agent: agent.agent };
  await world.send({ target, subject: { resource: 's' } });
  await resolveInputs(world.parts);
  await startRuns(world.parts);
  const [run] = await world.runs(agent);
  await began;
  const cancel = { verb: 'cancel', authority: 'test' } as const;
  await world.send({ kind: 'control', type: 'run.control', target: { run: run?.id ?? '' } }, { control: cancel });
  await world.send({ target, subject: { resource: 's' } });
  act = sayThenComplete('next');
  await world.settle();
  expect((await world.runs(agent)).map(({ status }) => status)).toEqual(['cancelled', 'completed']);
});
