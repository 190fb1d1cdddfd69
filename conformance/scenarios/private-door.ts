// The private door: who may enter, what bodies it takes, and that nothing is made twice.
import { holds, refused, same } from '../expect.js';
import { call, type Reply } from '../peer/http-client.js';
import type { Checks, Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { listOf, memberOf, textOf } from '../wire/json.js';
import { eventually } from '../wire/time.js';
import { problemDocument } from './open-door.js';

export const privateDoor: Scenario = {
  name: 'private-door',
  about: 'the agent API takes tokens and strict bodies, keeps others out, and makes nothing twice',
  needs: ['operator'],
  checks: [1, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20].map((number) => `API-${number}`),
  async run(stage, checks) {
    await tokens(stage, checks);
    await bodies(stage, checks);
    await inputs(stage, checks);
    await lists(stage, checks);
    await events(stage, checks);
    await messages(stage, checks);
  },
};

async function tokens({ door }: Stage, { check }: Checks): Promise<void> {
  const without = await door.ask('GET', '/v1/whoami', { token: null });
  await check('API-1', 'without a token, or with a wrong one, nothing opens', async () => {
    for (const reply of [without, await door.ask('GET', '/v1/whoami', { token: 'hearth_operator_wrong' })]) {
      refused(reply, 401, 'unauthorized');
      same(reply.fields.get('www-authenticate'), 'Bearer', 'WWW-Authenticate');
    }
    refused(await door.ask('POST', '/v1/inputs', { token: null, body: {} }), 401);
  });
  await check('API-1', 'health and the description need no token', async () => {
    for (const path of ['/healthz', '/openapi.json', '/docs'])
      same((await door.ask('GET', path, { token: null })).status, 200, `the status of ${path}`);
  });
  const missing = await door.ask('GET', '/v1/inputs/in_x');
  await check('API-3', 'an error is a problem document', () => {
    same(missing.status, 404, 'the status');
    problemDocument(missing);
    holds(textOf(missing.json, 'type') !== '', 'type is missing');
  });
  await check('API-4', 'who has proved nothing gets no detail', () =>
    same(memberOf(without.json, 'detail'), undefined, 'detail'),
  );
  await check('API-5', 'every answer has a request id of the server', async () => {
    const named = await door.ask('GET', '/v1/whoami', { fields: [['x-request-id', 'mine']] });
    for (const reply of [without, missing, named])
      holds((reply.fields.get('x-request-id') ?? '') !== '', 'X-Request-Id is missing');
    holds(named.fields.get('x-request-id') !== 'mine', "the caller's was taken");
    same(textOf(missing.json, 'request_id'), missing.fields.get('x-request-id'), 'request_id');
  });
}

async function bodies({ door }: Stage, { check }: Checks): Promise<void> {
  const post = (body: string | Uint8Array, fields: readonly (readonly [string, string])[] = []) =>
    door.ask('POST', '/v1/messages', { body, fields });
  await check('API-6', 'what is not strict JSON is refused', async () => {
    for (const body of [
      '{"a":1,"a":2}',
      '{"a":1,"\\u0061":2}',
      '{"__proto__":1}',
      '"\\ud800"',
      '1e400',
      '['.repeat(33) + ']'.repeat(33),
      '{',
    ]) {
      refused(await post(body), 400, 'malformed_json');
    }
  });
  await check('API-6', 'another media type and a content encoding are refused', async () => {
    refused(await post('{}', [['content-type', 'text/plain']]), 415);
    refused(await post('{}', [['content-encoding', 'gzip']]), 415);
  });
  await check('API-6', 'more than 1 MiB is refused', async () =>
    refused(await post(Buffer.alloc(1_048_577, 0x20)), 413),
  );
  await check('API-7', 'unknown members of a body and of a query are refused', async () => {
    refused(await door.ask('POST', '/admin/v1/humans', { body: { name: 'x', nickname: 'y' } }), 400, 'schema_invalid');
    refused(await door.ask('GET', '/v1/runs?colour=red'), 400, 'schema_invalid');
  });
}

const inputOf = (change: Record<string, unknown> = {}) => ({
  kind: 'event',
  type: 'conformance.check',
  source_event_id: `conformance-${Date.now()}-${Math.floor(performance.now() * 1000)}`,
  occurred_at: new Date().toISOString(),
  data: { note: 'a check' },
  ...change,
});

async function inputs({ door }: Stage, { check }: Checks): Promise<void> {
  const forged = {
    source: 'forged',
    principal: 'human://elsewhere.test/users/x',
    tenant: 'other',
    trust_class: 'trusted_fact',
  };
  const body = inputOf(forged);
  const first = await door.ask('POST', '/v1/inputs', { body });
  const id = textOf(first.json, 'input_id');
  const read = await door.ask('GET', `/v1/inputs/${id}`);
  await check('API-11', 'an input that was answered with 202 is there', () => {
    same(first.status, 202, `the status (${first.bytes.toString('utf8').slice(0, 200)})`);
    same(read.status, 200, 'the status of reading it');
  });
  await check('API-7', 'unknown members of an input are dropped', () => same(first.status, 202, 'the status'));
  await check('API-12', 'the same event again gives the first input', async () => {
    const again = await door.ask('POST', '/v1/inputs', { body });
    same(again.status, 202, 'the status');
    same(textOf(again.json, 'input_id'), id, 'input_id');
    same(memberOf(again.json, 'duplicate'), true, 'duplicate');
    same(memberOf(first.json, 'duplicate'), false, 'duplicate of the first');
  });
  await check('API-13', 'source, principal and trust come from the credential', () => {
    holds(
      textOf(read.json, 'principal') !== forged.principal && textOf(read.json, 'principal') !== '',
      'the principal is the forged one',
    );
    holds(textOf(read.json, 'source') !== forged.source, 'the source is the forged one');
    holds(textOf(read.json, 'trust_class') !== forged.trust_class, 'the trust is the forged one');
  });
  await check('API-14', 'an input of kind control is refused', async () => {
    const reply = await door.ask('POST', '/v1/inputs', { body: inputOf({ kind: 'control', control: 'cancel' }) });
    holds(reply.status >= 400 && reply.status < 500, `it was answered ${reply.status}`);
  });
  await others(door, { check }, id);
}

async function others(door: Stage['door'], { check }: Pick<Checks, 'check'>, inputId: string): Promise<void> {
  await door.ask('POST', '/admin/v1/humans', { body: { name: 'conformance-person' } });
  const issued = await door.ask('POST', '/admin/v1/credentials', {
    body: { kind: 'person', principal: 'conformance-person', expires_in_s: 600 },
  });
  const token = textOf(issued.json, 'token');
  await check('API-8', "another's input is answered like none", async () => {
    same(issued.status, 201, 'the status of the credential');
    const [theirs, none] = [
      await door.ask('GET', `/v1/inputs/${inputId}`, { token }),
      await door.ask('GET', '/v1/inputs/in_x', { token }),
    ];
    refused(theirs, 404, 'not_found');
    same(withoutId(theirs), withoutId(none), 'the answer');
    const agent = await door.ask('GET', '/v1/messages?agent=conformance-quiet', { token });
    refused(agent, 404, 'not_found');
  });
  await check('API-9', 'a token is not in the list of credentials', async () => {
    const list = await door.ask('GET', '/admin/v1/credentials?limit=200');
    same(list.status, 200, 'the status');
    holds(token !== '' && !list.bytes.includes(token), 'it is');
  });
}

function withoutId(reply: Reply): string {
  return JSON.stringify({ ...Object(reply.json), request_id: '' });
}

async function lists({ door }: Stage, { check }: Checks): Promise<void> {
  await check('API-15', 'limit is from 1 to 200', async () => {
    for (const limit of ['0', '201', 'x'])
      refused(await door.ask('GET', `/v1/runs?limit=${limit}`), 400, 'schema_invalid');
    same((await door.ask('GET', '/v1/runs?limit=200')).status, 200, 'the status of 200');
  });
  await check('API-15', 'a page says where the next begins, the last one null', async () => {
    const page = await door.ask('GET', '/admin/v1/agents?limit=1');
    same(listOf(page.json, 'items').length, 1, 'the number of items');
    holds(textOf(page.json, 'next_cursor') !== '', 'next_cursor is missing');
    same(
      memberOf((await door.ask('GET', '/admin/v1/agents?limit=200')).json, 'next_cursor'),
      null,
      'next_cursor of the last',
    );
  });
  await check('API-16', 'pages of one give each row exactly once', async () => {
    const keyOf = (item: unknown) => textOf(item, 'agent_id') || JSON.stringify(item);
    const whole = listOf((await door.ask('GET', '/admin/v1/agents?limit=200')).json, 'items').map(keyOf);
    const paged: string[] = [];
    let cursor = '';
    while (paged.length <= whole.length) {
      const page = await door.ask(
        'GET',
        `/admin/v1/agents?limit=1${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      paged.push(...listOf(page.json, 'items').map(keyOf));
      cursor = textOf(page.json, 'next_cursor');
      if (cursor === '') break;
    }
    same(paged.join(), whole.join(), 'the rows');
  });
}

/** A run of the answering agent, which ends at once. */
async function events({ door, peer, answerer, operator }: Stage, { check }: Checks): Promise<void> {
  holds(operator !== '' && peer.name !== '', 'the stage is empty');
  await door.ask('POST', '/v1/inputs', { body: inputOf({ kind: 'command', target: { agent: answerer } }) });
  const run = await eventually(async () => {
    const reply = await door.ask('GET', '/v1/runs?agent=conformance-answerer&status=completed&limit=1');
    return listOf(reply.json, 'items')[0];
  }, 10_000);
  const path = `/v1/runs/${textOf(run, 'id')}/events`;
  const page = await door.ask('GET', path);
  await check('API-17', 'a cursor that was not given out is refused', async () =>
    refused(await door.ask('GET', `${path}?after=1000000`), 400, 'cursor_invalid'),
  );
  const streamed = (fields: readonly (readonly [string, string])[] = []) =>
    call({
      method: 'GET',
      url: `${door.url}${path}`,
      fields: [['authorization', `Bearer ${door.token}`], ['accept', 'text/event-stream'], ...fields],
    });
  const textIn = (reply: Reply) => reply.bytes.toString('utf8');
  const idsIn = (reply: Reply) => [...textIn(reply).matchAll(/^id: ?(.+)$/gm)].map(([, id = '']) => id);
  const numbersIn = (reply: Reply) => [...textIn(reply).matchAll(/"seq":(\d+)/g)].map(([, seq]) => Number(seq));
  await check('API-18', 'a stream carries every event with its cursor and ends with `end`', async () => {
    const stream = await streamed();
    const positions = listOf(page.json, 'items').map((event) => Number(memberOf(event, 'seq')));
    holds(positions.length > 0, 'the run has no events');
    same(numbersIn(stream).join(), positions.join(), 'the numbers');
    same(new Set(idsIn(stream)).size, positions.length, 'the ids');
    holds(/^event: ?end$/m.test(textIn(stream)), 'there is no end event');
  });
  await check('API-18', 'a stream resumes after Last-Event-ID', async () => {
    const [first = ''] = idsIn(await streamed());
    const rest = numbersIn(await streamed([['last-event-id', first]]));
    holds(rest.length > 0 && !rest.includes(1), 'the first event came again, or none');
  });
}

async function messages({ door, peer }: Stage, { check }: Checks): Promise<void> {
  const key = `conformance-${Date.now()}`;
  const send = (text: string) =>
    door.ask('POST', '/v1/messages', {
      body: { to: peer.agent('two').address, type: 'message', body: { text } },
      fields: [['idempotency-key', key]],
    });
  const first = await send('once');
  await check('API-19', 'a key that was used gives the first result and sends nothing again', async () => {
    same(first.status, 202, 'the status');
    same(
      textOf((await send('once')).json, 'result', 'message_id'),
      textOf(first.json, 'result', 'message_id'),
      'message_id',
    );
  });
  await check('API-20', 'a key that was used for another message is refused', async () =>
    refused(await send('something else'), 409, 'idempotency_conflict'),
  );
}
