import { describe, expect, it } from 'vitest';
import type { Activation, Runtime, RuntimeEvent, RuntimeProposal } from '../../../src/foundation/index.js';
import type { JsonObject, JsonValue } from '../../../src/protocol/index.js';
import { parseScript, scriptedRuntime, scriptLimits } from '../../../src/runtimes/scripted/index.js';

const step = (...steps: JsonValue[]): JsonObject => ({ rules: [{ when: { type: 'test.*' }, steps }] });

function open(config: JsonObject): Runtime {
  const runtime = scriptedRuntime().open(config);
  if (!runtime) throw new Error('the script cannot be run');
  return runtime;
}

interface Play extends Partial<Pick<Activation, 'origin' | 'runtimeState' | 'signal'>> {
  input?: JsonObject;
  answer?: (proposal: RuntimeProposal) => JsonObject;
}

function activationOf({ input = {}, origin = 'activate', runtimeState, signal, answer }: Play): Activation {
  const { id = 'in_home_1', ...content } = input;
  return {
    runId: 'run_1',
    sessionRef: 'ses_1',
    origin,
    runtimeState,
    bundleDigest: 'sha256:0',
    runPolicy: { timeLimitMs: 1_000, attempt: 1 },
    signal: signal ?? new AbortController().signal,
    propose: (proposal) => Promise.resolve(answer?.(proposal) ?? { status: 'succeeded', result: { n: 1 } }),
    contextBundle: {
      projector_version: 'projector/1',
      agent: 'agent://alpha.test/agents/a',
      session_ref: 'ses_1',
      activation_input_ref: String(id),
      activation_input_refs: [String(id)],
      observations: [
        {
          source_ref: String(id),
          state_version: 0,
          provenance: { source: 's', principal: 'p', received_at: '', digest: '', rule: '' },
          trust_class: 'untrusted_content',
          content_type: 'application/json',
          projected_content: { type: 'test.happened', subject: null, data: null, ...content },
        },
      ],
      memory_refs: [],
      environment_version: 0,
      capability_manifest: [],
      context_budget: { bytes: 1, used: 0, truncated: [] },
    },
  };
}

async function play(runtime: Runtime, how: Play = {}): Promise<RuntimeEvent[]> {
  const events: RuntimeEvent[] = [];
  for await (const event of runtime.activate(activationOf(how))) events.push(event);
  return events;
}

describe('a script', () => {
  it('says, and ends with its value; what follows the end is not done', async () => {
    expect(await play(open(step({ say: 'a' }, { complete: { b: 1 } }, { say: 'never' })))).toEqual([
      { type: 'output', data: 'a' },
      { type: 'run.completed', result: { b: 1 } },
    ]);
  });

  it('without an end completes with nothing; without a rule ignores; with fail it fails', async () => {
    expect(await play(open(step({ say: 1 })))).toContainEqual({ type: 'run.completed', result: null });
    expect(await play(open({ rules: [] }))).toEqual([{ type: 'run.completed', result: { ignored: true } }]);
    expect(await play(open(step({ fail: 'no {{/activation/type}}' })))).toEqual([
      { type: 'run.failed', reason: 'no test.happened' },
    ]);
  });

  it('the first rule of the type or its prefix answers; a prefix ends at a dot', async () => {
    const rule = (type: string) => ({ when: { type }, steps: [{ complete: type }] });
    const runtime = open({ rules: [rule('test.hap.*'), rule('test.happened'), rule('test.*')] });
    expect(await play(runtime)).toEqual([{ type: 'run.completed', result: 'test.happened' }]);
    expect(await play(runtime, { input: { type: 'test.hap.x' } })).toEqual([
      { type: 'run.completed', result: 'test.hap.*' },
    ]);
    expect(await play(runtime, { input: { type: 'other' } })).toEqual([
      { type: 'run.completed', result: { ignored: true } },
    ]);
  });

  it('refers to its input, interpolates into text, and fails by name where nothing is', async () => {
    const input = { data: { list: ['x', { 'a/b': 7 }], sender: 'agent://b', conversation_id: 'conv' } };
    const script = step({
      complete: {
        n: { $ref: '/activation/data/list/1/a~1b' },
        t: 'to {{/activation/sender}} in {{/activation/conversation_id}}: {{/activation/data/list}}',
      },
    });
    expect(await play(open(script), { input })).toEqual([
      { type: 'run.completed', result: { n: 7, t: 'to agent://b in conv: ["x",{"a/b":7}]' } },
    ]);
    for (const pointer of ['/activation/none', '/activation/data/__proto__', '/activation/data/list/9', '/nothing']) {
      expect(await play(open(step({ complete: { $ref: pointer } })), { input })).toEqual([
        { type: 'run.failed', reason: `unresolved_reference ${pointer}` },
      ]);
    }
  });

  it('text that came from outside is never read as a reference', async () => {
    const input = { data: { evil: '{{/activation/id}}', ref: { $ref: '/activation/id' } } };
    expect(await play(open(step({ complete: { $ref: '/activation/data' } })), { input })).toEqual([
      { type: 'run.completed', result: input.data },
    ]);
  });

  it('proposes under an id of its first input and step, and keeps the answer', async () => {
    const proposals: RuntimeProposal[] = [];
    const answer = (proposal: RuntimeProposal) => {
      proposals.push(proposal);
      return { status: 'succeeded', result: { id: 'cmt_1' } };
    };
    const script = step(
      {
        propose: {
          id: 'ask',
          action: 'x.do',
          target: '{{/activation/data/to}}',
          input: { a: { $ref: '/activation/type' } },
        },
      },
      { complete: '{{/vars/ask/result/id}}' },
    );
    expect(await play(open(script), { input: { data: { to: 'b' } }, answer })).toEqual([
      { type: 'run.completed', result: 'cmt_1' },
    ]);
    expect(proposals).toEqual([
      { proposalId: 'in_home_1/0/ask', action: 'x.do', target: 'b', input: { a: 'test.happened' } },
    ]);
  });

  it('requires, comparing values whatever the order of their members', async () => {
    const requires = (equals: JsonValue) =>
      step({ require: { of: { $ref: '/activation/data' }, equals } }, { complete: 'met' });
    const input = { data: { a: 1, b: 2 } };
    expect(await play(open(requires({ b: 2, a: 1 })), { input })).toEqual([{ type: 'run.completed', result: 'met' }]);
    expect(await play(open(requires({ a: 1 })), { input })).toEqual([
      { type: 'run.failed', reason: 'requirement_unmet at step 0' },
    ]);
    expect(
      await play(open(step({ require: { of: { $ref: '/vars/none' }, equals: null } }, { complete: 1 }))),
    ).toHaveLength(1);
  });
});

describe('suspension', () => {
  const script = step(
    { propose: { id: 'one', action: 'x.do', target: 't' } },
    { suspend: { reason: 'waits', until: [{ type: 'test.answer', subject: '{{/vars/one/result/n}}' }] } },
    { propose: { id: 'two', action: 'x.do', target: 't' } },
    {
      complete: {
        answer: { $ref: '/activation/data' },
        first: { $ref: '/first/data' },
        one: { $ref: '/vars/one/status' },
      },
    },
  );

  async function suspended() {
    const event = (await play(open(script), { input: { data: 'first' } })).at(-1);
    if (event?.type !== 'run.suspended') throw new Error('it did not suspend');
    return event;
  }

  it('goes on in another instance from plain JSON, and does nothing of before again', async () => {
    const event = await suspended();
    expect(event).toMatchObject({
      subscriptions: [{ type: 'test.answer', subject: '1' }],
      resumePolicy: 'first_match',
    });
    const ids: string[] = [];
    const answer = ({ proposalId }: RuntimeProposal) => {
      ids.push(proposalId);
      return { status: 'succeeded' };
    };
    const runtimeState = JSON.parse(JSON.stringify(event.runtimeState));
    const resumed = await play(open(script), {
      origin: 'resume',
      runtimeState,
      input: { id: 'in_home_2', data: 'second' },
      answer,
    });
    expect(resumed).toEqual([
      { type: 'run.completed', result: { answer: 'second', first: 'first', one: 'succeeded' } },
    ]);
    expect(ids).toEqual(['in_home_1/0/two']);
  });

  it('a changed script and a state that no script wrote fail', async () => {
    const { runtimeState } = await suspended();
    const changed = step({ complete: 'other' });
    expect(await play(open(changed), { origin: 'resume', runtimeState })).toEqual([
      { type: 'run.failed', reason: 'script_changed' },
    ]);
    expect(await play(open(script), { origin: 'resume', runtimeState: { rule: 0 } })).toEqual([
      { type: 'run.failed', reason: 'checkpoint_invalid' },
    ]);
  });

  it('forks by copying', async () => {
    const { runtimeState } = await suspended();
    const copy = await open(script).fork?.(runtimeState);
    expect(copy).toEqual(runtimeState);
    expect(copy).not.toBe(runtimeState);
  });
});

describe('steering and cancelling', () => {
  const script = {
    ...step({ await: 'steer' }, { await: 'steer' }, { complete: { $ref: '/steered/data' } }),
    supports: { steer: true },
  };
  const steering = (data: JsonValue) => ({
    input_id: 'in_home_3',
    type: 'run.control',
    trust_class: 'instruction',
    data,
  });

  it('takes steers in their order, refuses what it has not taken when it ends, and knows no other run', async () => {
    const runtime = open(script);
    const playing = play(runtime);
    const offered = Promise.all([1, 2, 3].map((n) => runtime.steer?.('run_1', steering(n))));
    expect((await playing).at(-1)).toEqual({ type: 'run.completed', result: 2 });
    expect(await offered).toEqual([true, true, false]);
    expect(await runtime.steer?.('run_1', steering(4))).toBe(false);
  });

  it('ends cancelled at its signal, also while it waits', async () => {
    const controller = new AbortController();
    const playing = play(open(script), { signal: controller.signal });
    controller.abort();
    expect(await playing).toEqual([{ type: 'run.cancelled', reason: 'signalled' }]);
  });

  it('declares what it was told to support', () => {
    expect(open(script).describe()).toMatchObject({
      supports_steer: true,
      supports_fork: true,
      state_portability: 'portable',
    });
    expect(open({ rules: [], supports: { fork: false } }).describe()).toMatchObject({
      supports_steer: false,
      supports_fork: false,
      state_portability: 'native',
    });
  });
});

describe('what is no script', () => {
  const many = (count: number) => step(...Array.from({ length: count }, () => ({ say: 1 })));

  it.each([
    ['a step that is none', step({ jump: 1 })],
    ['a step of two kinds', step({ say: 1, complete: 2 })],
    [
      'two proposals of one id',
      step({ propose: { id: 'a', action: 'x', target: 't' } }, { propose: { id: 'a', action: 'x', target: 't' } }),
    ],
    ['a wait for nothing', step({ suspend: { reason: 'r', until: [] } })],
    ['an unknown member', { ...step({ say: 1 }), loop: true }],
    ['no rules', {}],
    ['too many steps', many(scriptLimits.steps + 1)],
    ['too much text', step({ say: 'x'.repeat(scriptLimits.bytes) })],
  ])('%s is refused', (_, config) => {
    expect(() => parseScript(config)).toThrow(expect.objectContaining({ code: 'schema_invalid' }));
    expect(scriptedRuntime().open(config)).toBeUndefined();
  });

  it('as many steps as are allowed are a script', () => {
    expect(parseScript(many(scriptLimits.steps)).rules).toHaveLength(1);
  });
});
