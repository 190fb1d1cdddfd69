// Whatever a runtime or a backlog does, the sessions beside and behind it go on.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  type Activation,
  keepLeases,
  missingRuntime,
  type RuntimeEvent,
  type RuntimeKind,
  resolveInputs,
  runLimits,
  startRuns,
} from '../../../src/foundation/index.js';
import type { JsonObject, JsonValue } from '../../../src/protocol/index.js';
import { createTestDatabase, openTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;
let act: (activation: Activation) => AsyncIterable<RuntimeEvent>;
let cancel: () => Promise<void>;
let fork: () => Promise<JsonValue>;

const forever = () => new Promise<never>(() => undefined);
const throwing = () => {
  throw new Error('broken');
};
const failing = () => Promise.reject(new Error('broken'));

const kind: RuntimeKind = {
  id: 'stuck',
  checkConfig: () => undefined,
  open: () => ({
    describe: () => ({ ...missingRuntime('stuck'), runtime_version: '1', supports_fork: true }),
    activate: (activation) => act(activation),
    cancel: () => cancel(),
    fork: () => fork(),
  }),
};

beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 12 });
});
afterAll(() => test.drop());
beforeEach(() => {
  world = openFoundationWorld(test.database, { kinds: [kind] });
});

async function begin(): Promise<void> {
  await resolveInputs(world.parts);
  await startRuns(world.parts);
}

function control(verb: 'cancel' | 'fork', target: { run?: string; session?: string }): Promise<string> {
  return world.send({ kind: 'control', type: 'run.control', target }, { control: { verb, authority: 'test' } });
}

it.each([
  ['hangs', forever],
  ['fails', failing],
])('a runtime whose cancel %s is stopped all the same, at once', async (_, stuck) => {
  cancel = stuck;
  act = () => ({ [Symbol.asyncIterator]: () => ({ next: forever }) });
  const agent = await world.addAgent({ runtimeId: 'stuck' });
  await world.send({ target: { agent: agent.agent } });
  await begin();
  const [run] = await world.runs(agent);
  await control('cancel', { run: run?.id ?? '' });
  await world.settle();
  expect(await world.runs(agent)).toMatchObject([{ status: 'cancelled', reasonCode: 'control_cancel', attempt: 1 }]);
});

it.each([
  ['hangs', forever],
  ['fails', failing],
  ['throws', throwing],
])('a runtime whose fork %s fails the branch, once', async (_, stuck) => {
  fork = stuck;
  act = async function* (): AsyncGenerator<RuntimeEvent> {
    const subscriptions = [{ type: 'test.answer' }];
    yield { type: 'run.suspended', reason: 'r', subscriptions, resumePolicy: 'first_match', runtimeState: {} };
  };
  const agent = await world.addAgent({ runtimeId: 'stuck' });
  await world.send({ target: { agent: agent.agent } });
  await world.settle();
  const [first] = await world.runs(agent);
  await control('fork', { session: first?.sessionId ?? '' });
  await world.settle();
  expect(await world.runs(agent)).toMatchObject([
    { status: 'suspended' },
    { status: 'failed', reasonCode: 'fork_failed' },
  ]);
});

it('a runtime that throws before its first event fails its run, once', async () => {
  act = () => {
    throw new Error('broken');
  };
  const agent = await world.addAgent({ runtimeId: 'stuck' });
  await world.send({ target: { agent: agent.agent } });
  await world.settle();
  expect(await world.runs(agent)).toMatchObject([{ status: 'failed', reasonCode: 'runtime_error', attempt: 1 }]);
});

it('a run proposes as often as the limit says, and not once more', async () => {
  let over: unknown;
  act = async function* ({ propose }): AsyncGenerator<RuntimeEvent> {
    const answers: JsonObject[] = [];
    // One after the other, as a runtime in a loop would.
    for (let n = 0; n < runLimits.proposals; n += 1) {
      answers.push(await propose({ proposalId: '', action: 'x', target: '', input: {} }));
      if (n % 100 === 0) await keepLeases(world.parts);
    }
    over = await propose({ proposalId: '', action: 'x', target: '', input: {} }).catch((error: unknown) => error);
    yield { type: 'run.completed', result: answers.length };
  };
  const agent = await world.addAgent({ runtimeId: 'stuck' });
  await world.send({ target: { agent: agent.agent } });
  await world.settle();
  expect(await world.runs(agent)).toMatchObject([{ status: 'completed', result: runLimits.proposals }]);
  expect(String(over)).toMatch(/may propose/);
  const [audited] = await test.database.sql`
    select count(*) as refused from foundation.audit_entries where home = ${agent.home} and outcome = 'refused'`;
  expect(audited).toEqual({ refused: runLimits.proposals });
}, 60_000);

it('the backlog of a paused agent keeps no other agent from its turn', async () => {
  const paused = await world.addAgent({ status: 'paused' });
  const active = await world.addAgent({});
  await test.database.sql`
    insert into foundation.runs (
      home, id, tenant, session_id, status, activation_candidate_id, runtime_id, runtime_version, input_log_cursor)
    select ${paused.home}, 'run_' || n, 'default', 'ses_' || n, 'queued', 'cand_' || n, 'scripted', '1', 0
      from generate_series(1, 2500) n`;
  await world.send({ target: { agent: active.agent } });
  await begin();
  await world.parts.live.idle();
  expect(await world.runs(active)).toMatchObject([{ status: 'completed' }]);
  await test.database.sql`delete from foundation.runs where home = ${paused.home}`;
});

it('inputs that take longer to decide than one transaction may are decided all the same, in order', async () => {
  const agent = await world.addAgent({});
  const { directory, clock } = world.parts;
  const hurried = openTestDatabase(test.target, 2, 5_000);
  const slow = world.host({
    db: hurried,
    directory: {
      ...directory,
      async byAgent(sql, tenant, address) {
        await clock.sleep(150);
        return directory.byAgent(sql, tenant, address);
      },
    },
  });
  const inputs: string[] = [];
  // One by one, as what is not a plain command is.
  const event = { kind: 'event', target: { agent: agent.agent } } as const;
  for (let n = 0; n < 45; n += 1) inputs.push(await world.send(event));
  await resolveInputs(slow);
  let steps = 0;
  while ((await resolveInputs(slow)) === 'more') steps += 1;
  expect(steps).toBeGreaterThan(1);
  for (const input of inputs) expect(await world.decision(input)).toBe('PROJECT event_not_subscribed');
  await hurried.close();
}, 60_000);
