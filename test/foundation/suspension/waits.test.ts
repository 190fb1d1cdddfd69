// Waits for more than one input, their limits and refusals, on a real database.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveInputs, suspensionLimits } from '../../../src/foundation/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { openFoundationWorld } from '../../support/foundation-world.js';
import { openWaitingWorld, type WaitingWorld, waiter } from './waiting-world.js';

let test: TestDatabase;
let each: WaitingWorld;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => {
  each = openWaitingWorld(test.database);
});

describe('F14: a wait for several inputs', () => {
  it('all: goes on once, with the last of them, and is shown every one in order', async () => {
    const { world, waiting, say, shown } = each;
    const agent = await waiting({ until: [{ type: 'w1.a' }, { type: 'w1.b' }, { type: 'w1.c' }], resume: 'all' });
    const first = await say('w1.b', { data: 1 });
    const again = await say('w1.b', { data: 2 });
    const second = await say('w1.a', { data: 3 });
    await world.settle();
    expect(await world.runs(agent)).toHaveLength(1);
    expect(await world.decision(first)).toBe('PROJECT suspension_partly_matched');
    expect(await world.decision(again)).toBe('IGNORE no_candidate');
    const last = await say('w1.c', { data: 4 });
    await world.settle();
    expect(await world.decision(last)).toBe('RESUME suspension_matched');
    expect(await shown(agent)).toEqual([{ status: 'completed', by: 'w1.c', inputs: ['w1.b 1', 'w1.a 3', 'w1.c 4'] }]);
    const [run] = (await world.runs(agent)).slice(-1);
    for (const id of [first, second, last]) {
      expect(await world.view(id)).toMatchObject({ dispositions: [{ status: 'consumed' }], runRefs: [run?.id] });
    }
    const [bundle] = await test.database.sql`
      select data from foundation.run_events where run_id = ${run?.id ?? ''} and type = 'context.bundle'`;
    expect(bundle?.data.activation_input_refs).toEqual([first, second, last]);
  });

  it('any 2 of 3: two distinct subscriptions, however often one of them is met', async () => {
    const { world, waiting, say, shown } = each;
    const agent = await waiting({ until: [{ type: 'w2.a' }, { type: 'w2.b' }, { type: 'w2.c' }], resume: { any: 2 } });
    for (const type of ['w2.a', 'w2.a', 'w2.a']) await say(type);
    await world.settle();
    expect(await world.runs(agent)).toHaveLength(1);
    await say('w2.c');
    await say('w2.b');
    await world.settle();
    expect(await shown(agent)).toEqual([{ status: 'completed', by: 'w2.c', inputs: ['w2.a', 'w2.c'] }]);
  });

  it('repeat: as many inputs as it says, the same event through another door and the same key once', async () => {
    const { world, waiting, say, shown } = each;
    const agent = await waiting({ until: [{ type: 'w3.vote', repeat: 3, dedupe: '/data/voter' }] });
    await say('w3.vote', { data: { voter: 'x' } });
    const repeated = await say('w3.vote', { data: { voter: 'x' } });
    const event = { source_event_id: `same-${agent.home}` };
    await say('w3.vote', event);
    const elsewhere = await world.send({ kind: 'event', type: 'w3.vote', ...event }, { home: 'doorhome2' });
    await world.settle();
    expect(await world.runs(agent)).toHaveLength(1);
    expect(await world.decision(repeated)).toBe('IGNORE suspension_repeated');
    expect(await world.decision(elsewhere)).toBe('IGNORE suspension_repeated');
    await say('w3.vote', { data: { voter: 'y' } });
    await world.settle();
    expect((await shown(agent)).map(({ inputs }) => inputs.length)).toEqual([3]);
  });

  it('F5: what counts for a wait is no work of its own, also when it was sent to the session as a command', async () => {
    const { world, waiting, shown } = each;
    const agent = await waiting({ until: [{ type: 'wait.a' }, { type: 'wait.b' }], resume: 'all' });
    const [run] = await world.runs(agent);
    const target = { session: run?.sessionId ?? '' };
    for (const type of ['wait.a', 'wait.b']) await world.send({ type, target });
    await world.settle();
    expect(await shown(agent)).toEqual([{ status: 'completed', by: 'wait.b', inputs: ['wait.a', 'wait.b'] }]);
    expect(await world.runs(agent)).toHaveLength(2);
  });

  it('a control resumes it with what it has counted so far, and a cancel ends it', async () => {
    const { world, waiting, say, shown, control } = each;
    const terms = { until: [{ type: 'w4.a' }, { type: 'w4.b' }], resume: 'all' };
    const [resumed, cancelled] = [await waiting(terms), await waiting(terms)];
    await say('w4.a', { data: 1 });
    await world.settle();
    await control('resume', resumed);
    await control('cancel', cancelled);
    await world.settle();
    expect(await shown(resumed)).toEqual([
      { status: 'completed', by: 'run.control', inputs: ['w4.a 1', 'run.control'] },
    ]);
    expect(await world.runs(cancelled)).toHaveLength(1);
  });

  it('counts what came before the wait stood: the log since its cursor, in order, by the same policy', async () => {
    const { world, say, shown } = each;
    const script = waiter({ until: [{ type: 'w5.a' }, { type: 'w5.b', repeat: 2 }], resume: 'all' });
    const agent = await world.addAgent({ script });
    await world.send({ type: 'wait.begin', target: { agent: agent.agent } });
    for (const type of ['w5.b', 'w5.a', 'w5.b']) await say(type, { data: type });
    // All are in the log, and decided on, before the run that waits for them begins.
    await resolveInputs(world.parts);
    await world.settle();
    expect(await shown(agent)).toMatchObject([{ by: 'w5.b', inputs: ['w5.b "w5.b"', 'w5.a "w5.a"', 'w5.b "w5.b"'] }]);
  });

  it('a continuation that waits again is not answered by what it was shown already', async () => {
    const { world, say, shown } = each;
    const pair = { reason: 'r', until: [{ type: 'w6.a' }, { type: 'w6.b' }], resume: 'all' };
    const steps = [{ suspend: pair }, { suspend: pair }, { complete: { by: 'x', inputs: { $ref: '/inputs' } } }];
    const agent = await world.addAgent({ script: { rules: [{ when: { type: 'wait.begin' }, steps }] } });
    await world.send({ type: 'wait.begin', target: { agent: agent.agent } });
    await world.settle();
    for (const data of [1, 2]) {
      await say('w6.a', { data });
      await say('w6.b', { data });
      await world.settle();
    }
    expect(await shown(agent).catch(() => [])).toEqual([]);
    const runs = await world.runs(agent);
    expect(runs.map(({ status }) => status)).toEqual(['suspended', 'suspended', 'completed']);
    expect(runs[2]?.result).toMatchObject({ inputs: [{ data: 2 }, { data: 2 }] });
  });
});

describe('F14: limits and refusals of a wait', () => {
  it.each([
    ['suspension_policy_malformed', { subscriptions: [{ type: 'a' }], resumePolicy: { any: 2 } }],
    ['suspension_policy_malformed', { subscriptions: [{ type: 'a' }], resumePolicy: { any: 0 } }],
    ['suspension_policy_malformed', { subscriptions: [{ type: 'a' }], resumePolicy: 'most' }],
    ['suspension_repeat_malformed', { subscriptions: [{ type: 'a', repeat: 0 }], resumePolicy: 'all' }],
    ['suspension_repeat_malformed', { subscriptions: [{ type: 'a', repeat: 1.5 }], resumePolicy: 'all' }],
    ['suspension_dedupe_malformed', { subscriptions: [{ type: 'a', dedupe: 'data' }], resumePolicy: 'all' }],
    ['suspension_expiry_malformed', { subscriptions: [{ type: 'a', expires: { at: 'soon' } }], resumePolicy: 'all' }],
    ['suspension_expiry_malformed', { subscriptions: [{ type: 'a' }], expires: { inMs: -1 }, resumePolicy: 'all' }],
    [
      'suspension_too_many_inputs',
      { subscriptions: [{ type: 'a', repeat: suspensionLimits.inputs }, { type: 'b' }], resumePolicy: 'all' },
    ],
  ])('%s: %j', async (reasonCode, terms) => {
    const faulty = openFoundationWorld(test.database, {
      kinds: [
        {
          id: 'said',
          checkConfig: () => undefined,
          open: () => ({
            describe: () => ({ ...descriptor }),
            async *activate() {
              yield { type: 'run.suspended', reason: 'r', runtimeState: null, ...terms } as never;
            },
          }),
        },
      ],
    });
    const agent = await faulty.addAgent({ runtimeId: 'said' });
    await faulty.send({ target: { agent: agent.agent } });
    await faulty.settle();
    expect(await faulty.runs(agent)).toMatchObject([{ status: 'failed', reasonCode }]);
  });

  it(`takes ${suspensionLimits.inputs} inputs and shows them all`, async () => {
    const { world, waiting, say, shown } = each;
    const agent = await waiting({ until: [{ type: 'w7.a', repeat: suspensionLimits.inputs }] });
    for (let count = 0; count < suspensionLimits.inputs; count += 1) await say('w7.a', { data: count });
    await world.settle();
    expect((await shown(agent)).map(({ inputs }) => inputs.length)).toEqual([suspensionLimits.inputs]);
  });
});

const descriptor = {
  runtime_id: 'said',
  runtime_version: '1',
  supports_steer: false,
  supports_interrupt: false,
  supports_native_resume: false,
  supports_fork: false,
  supports_checkpoint: true,
  suspend: 'native',
  state_portability: 'portable',
} as const;
