// BR-68: at every endpoint that takes an id, what belongs to another principal is answered like what does not exist: the
// same status, code, body and headers. Timing is not compared.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doors, operationId } from '../../spec/tools/openapi/documents.js';
import type { ApiAnswer, TestDomain } from '../support/test-domain.js';
import { noteFor, type PrivateDoorWorld, startPrivateDoorWorld } from './private-door-world.js';

let domain: TestDomain;
let tokens: PrivateDoorWorld['tokens'];
/** Ada's objects by what a path or query calls them. */
const own: Record<string, string | undefined> = {};

let world: PrivateDoorWorld;

beforeAll(async () => {
  world = await startPrivateDoorWorld();
  ({ domain, tokens } = world);
});

afterAll(() => domain.stop());

it('Ada has one of each', async () => {
  const sent = await domain.api('POST', '/v1/inputs', { token: tokens.ada, body: noteFor('mine') });
  const read = await world.settled(sent.text('input_id'), tokens.ada);
  const message = await domain.api('POST', '/v1/messages', {
    token: tokens.ada,
    body: {
      to: 'agent://alpha.test/agents/echo',
      type: 'request',
      body: { action: 'audit.release', subject: 'release://1' },
    },
  });
  const [disposition] = read.body.disposition as { session_id: string }[];
  const listed = await domain.api('GET', '/admin/v1/agents/echo/subscriptions', { token: tokens.ada });
  const timed = await domain.api('POST', '/v1/schedules', { token: tokens.ada, body: { agent: 'echo', rule } });
  Object.assign(own, {
    input: sent.text('input_id'),
    run: String((read.body.run_refs as string[])[0]),
    session: disposition?.session_id,
    commitment: message.text('result', 'commitment_id'),
    conversation: message.text('result', 'conversation_id'),
    agent: 'echo',
    schedule: timed.text('id'),
    subscription: (listed.body.items as { id: string }[])[0]?.id,
  });
  expect(Object.values(own)).not.toContain(undefined);
});

interface Case {
  method?: string;
  /** `{object}` stands for an id of Ada's or a random one of the same form. */
  path: string;
  object: string;
  body?: object;
  headers?: Record<string, string>;
  callers?: ('bob' | 'producer')[];
}

const subscription = { type: 'x.*' };
const rule = { kind: 'timer', at: '2030-01-01T00:00:00Z' };
const cases: Case[] = [
  { path: '/v1/inputs/{object}', object: 'input' },
  { path: '/v1/inputs/{object}/dispositions', object: 'input' },
  { path: '/v1/inputs?agent={object}', object: 'agent' },
  { path: '/v1/runs/{object}', object: 'run' },
  { path: '/v1/runs?agent={object}', object: 'agent' },
  { path: '/v1/runs?session={object}', object: 'session' },
  { path: '/v1/runs/{object}/events', object: 'run' },
  { path: '/v1/runs/{object}/events', object: 'run', headers: { accept: 'text/event-stream' } },
  ...['cancel', 'interrupt', 'steer', 'resume', 'fork'].map((verb) => ({
    method: 'POST',
    path: '/v1/runs/{object}/controls',
    object: 'run',
    body: { verb },
  })),
  {
    method: 'POST',
    path: '/v1/runs/{object}/controls',
    object: 'run',
    body: { verb: 'cancel' },
    headers: { 'idempotency-key': 'foreign' },
  },
  { path: '/v1/sessions/{object}', object: 'session' },
  { path: '/v1/sessions?agent={object}', object: 'agent' },
  { path: '/v1/schedules?agent={object}', object: 'agent' },
  { path: '/v1/schedules/{object}', object: 'schedule' },
  { method: 'DELETE', path: '/v1/schedules/{object}', object: 'schedule', callers: ['bob'] },
  { method: 'POST', path: '/v1/schedules', object: 'agent', body: { agent: '{object}', rule }, callers: ['bob'] },
  { path: '/v1/audit?agent={object}', object: 'agent' },
  { path: '/v1/audit?object={object}', object: 'run' },
  { path: '/v1/messages?agent={object}', object: 'agent' },
  { path: '/v1/commitments?agent={object}', object: 'agent' },
  { path: '/v1/commitments/{object}', object: 'commitment' },
  { path: '/v1/conversations/{object}', object: 'conversation' },
  { path: '/admin/v1/agents/{object}', object: 'agent', callers: ['bob'] },
  ...['pause', 'resume', 'end'].map(
    (verb): Case => ({
      method: 'POST',
      path: `/admin/v1/agents/{object}/${verb}`,
      object: 'agent',
      callers: ['bob'],
    }),
  ),
  { path: '/admin/v1/agents/{object}/subscriptions', object: 'agent', callers: ['bob'] },
  {
    method: 'POST',
    path: '/admin/v1/agents/{object}/subscriptions',
    object: 'agent',
    body: subscription,
    callers: ['bob'],
  },
  { method: 'DELETE', path: '/admin/v1/agents/{object}/subscriptions/sub_x', object: 'agent', callers: ['bob'] },
  { method: 'DELETE', path: '/admin/v1/agents/echo/subscriptions/{object}', object: 'subscription', callers: ['bob'] },
  ...['agent', 'session', 'run'].map(
    (member): Case => ({
      method: 'POST',
      path: '/v1/inputs',
      object: member,
      callers: ['bob'],
      body: { kind: 'command', type: 'note.x', source_event_id: 'foreign', target: { [member]: '{object}' } },
    }),
  ),
];

/** Of the same form, and nobody's. */
function strangerTo(object: string): string {
  return object === 'agent' ? 'ochre' : (own[object] ?? '').replace(/.{8}$/, '00000000');
}

function ask({ method = 'GET', path, body, headers = {} }: Case, object: string, token: string): Promise<ApiAnswer> {
  const filled = body && JSON.parse(JSON.stringify(body).replaceAll('{object}', object));
  return domain.api(method, path.replace('{object}', encodeURIComponent(object)), {
    token,
    headers,
    ...(filled ? { body: filled } : {}),
  });
}

/** All that an answer shows, without what is new in each. */
function shown({ status, headers, body }: ApiAnswer): object {
  const kept = [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name));
  const { request_id, ...rest } = body;
  return { status, headers: kept, body: rest, hadRequestId: request_id !== undefined || status < 400 };
}

describe("another's object looks exactly like a missing one (BR-68)", () => {
  it.each(
    cases.flatMap((each) =>
      (each.callers ?? (['bob', 'producer'] as const)).map((who) => ({ ...each, method: each.method ?? 'GET', who })),
    ),
  )('$method $path of a foreign $object, for $who', async ({ who, ...each }) => {
    const object = own[each.object];
    if (!object) throw new Error(`there is no ${each.object}`);
    const token = tokens[who];
    const foreign = await ask(each, object, token);
    const missing = await ask(each, strangerTo(each.object), token);
    expect(shown(foreign)).toEqual(shown(missing));
    expect([200, 403, 404]).toContain(foreign.status);
    if (foreign.status === 200) expect(foreign.body.items).toEqual([]);
    expect(JSON.stringify(foreign.body)).not.toContain('ada');
  });

  it('its owner is answered, so that the comparison above is of real objects', async () => {
    for (const each of cases.filter(({ method }) => method === undefined)) {
      if (each.headers) continue;
      expect([each.path, (await ask(each, own[each.object] ?? '', tokens.ada)).status]).toEqual([each.path, 200]);
    }
  });

  it('lists show nothing of it', async () => {
    for (const path of [
      '/v1/inputs',
      '/v1/runs',
      '/v1/sessions',
      '/v1/commitments',
      '/v1/messages',
      '/admin/v1/agents',
    ])
      expect([path, (await domain.api('GET', path, { token: tokens.bob })).body.items]).toEqual([path, []]);
  });

  it('every endpoint with an id in its path is in the table, or is for operators alone', async () => {
    const forms = cases.map(({ method = 'GET', path }) => `${method} ${path.split('?')[0]}`);
    const withId = doors().agent.endpoints.filter(({ path }) => path.includes(':'));
    const left = withId
      .map(operationId)
      .filter((id) => !forms.some((form) => patternOf(id).test(form.replaceAll('{object}', 'x'))));
    for (const id of left) {
      const [method = '', path = ''] = id.replaceAll(/\{[a-z]+\}/g, 'x').split(' ');
      const answer = await domain.api(method, path, { token: tokens.ada, ...(method === 'POST' ? { body: {} } : {}) });
      expect([id, answer.status]).toEqual([id, 403]);
    }
  });
});

function patternOf(id: string): RegExp {
  return new RegExp(`^${id.replaceAll(/\{[a-z]+\}/g, '[^/]+')}$`);
}
