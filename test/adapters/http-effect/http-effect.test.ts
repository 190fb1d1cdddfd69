import { createServer, type RequestListener, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpEffectAdapter } from '../../../src/adapters/http-effect/index.js';
import type { ActionProposal, DispatchingEffectAdapter, EffectRecord } from '../../../src/foundation/index.js';
import { createPeerHttp, type PeerHttp, systemClock } from '../../../src/platform/index.js';

let server: Server;
let http: PeerHttp;
let origin: string;
let adapter: DispatchingEffectAdapter;
let answer: RequestListener;
const never = new AbortController().signal;
const key = 'key-1';

beforeAll(async () => {
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  origin = typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : '';
  http = createPeerHttp({ resolve: new Map(), clock: systemClock(), allowOrigins: [origin] });
  adapter = createHttpEffectAdapter({ http, origins: [origin], timeoutMs: 500 });
});
afterAll(async () => {
  await http.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function effect(over: Partial<EffectRecord> = {}): EffectRecord {
  return {
    target: `${origin}/do?x=1`,
    request: { b: 1, a: 2 },
    idempotencyKey: key,
    attempt: 1,
    ...over,
  } as EffectRecord;
}

function respond(status: number, body = '', headers: Record<string, string> = {}): void {
  answer = (_request, response) => response.writeHead(status, headers).end(body);
}

test('the input goes out as canonical JSON with the idempotency key', async () => {
  const seen: unknown[] = [];
  answer = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { 'content-type': type, 'idempotency-key': sent } = request.headers;
    seen.push(request.method, request.url, type, sent, Buffer.concat(chunks).toString());
    response.writeHead(201).end('{"ok":true}');
  };
  expect(await adapter.dispatch(effect(), never)).toEqual({
    status: 'succeeded',
    result: { ok: true },
  });
  expect(seen).toEqual(['POST', '/do?x=1', 'application/json', key, '{"a":2,"b":1}']);
});

test.each([
  [204, 1, { status: 'succeeded', result: null }],
  [400, 1, { status: 'failed', reason: 'http_400', result: null }],
  [429, 1, { status: 'failed', reason: 'http_429', result: null }],
  [408, 1, { status: 'unknown', reason: 'http_408' }],
  [409, 1, { status: 'failed', reason: 'http_409', result: null }],
  [409, 2, { status: 'unknown', reason: 'http_409' }],
  [500, 1, { status: 'unknown', reason: 'http_500' }],
  [503, 1, { status: 'unknown', reason: 'http_503' }],
  [303, 1, { status: 'unknown', reason: 'redirected' }],
])('the answer %i to attempt %i', async (status, attempt, outcome) => {
  respond(status, '', status === 303 ? { location: `${origin}/else` } : {});
  expect(await adapter.dispatch(effect({ attempt }), never)).toEqual(outcome);
});

test('an answer that is not strict JSON is kept as text, one that is no text is dropped', async () => {
  respond(200, '{"a":1,"a":2}\u0000');
  expect(await adapter.dispatch(effect(), never)).toMatchObject({ result: '{"a":1,"a":2}' });
  answer = (_request, response) => response.writeHead(200).end(Buffer.from([0xff, 0xfe]));
  expect(await adapter.dispatch(effect(), never)).toMatchObject({ result: null });
});

test('BR-46: a cut, a silence and an answer too large to read leave the outcome unknown', async () => {
  answer = (request) => request.socket.destroy();
  expect(await adapter.dispatch(effect(), never)).toEqual({ status: 'unknown', reason: 'unreachable' });
  answer = () => undefined;
  expect(await adapter.dispatch(effect(), never)).toEqual({ status: 'unknown', reason: 'timed_out' });
  respond(200, 'x'.repeat(48 * 1024 + 1));
  expect(await adapter.dispatch(effect(), never)).toEqual({ status: 'unknown', reason: 'answer_too_large' });
  respond(200, 'x'.repeat(48 * 1024));
  expect(await adapter.dispatch(effect(), never)).toMatchObject({ status: 'succeeded' });
});

const named = JSON.stringify({ idempotency_key: key });
test.each([
  [200, named, {}, 'succeeded'],
  [404, named, {}, 'not_found'],
  [200, '', { 'idempotency-key': key }, 'succeeded'],
  [404, '', { 'idempotency-key': key }, 'not_found'],
  [200, '{}', {}, 'unknown'],
  [404, '{}', {}, 'unknown'],
  [404, '[]', {}, 'unknown'],
  [404, 'null', {}, 'unknown'],
  [404, JSON.stringify({ idempotency_key: 'other' }), {}, 'unknown'],
  [202, named, {}, 'unknown'],
  [500, named, {}, 'unknown'],
])('asked for a key, %i with body %s and headers %j is %s', async (status, body, headers, expected) => {
  respond(status, body, headers);
  expect(await adapter.query(effect(), never)).toMatchObject({ status: expected });
});

test('the question keeps the query of the target and adds the key', async () => {
  let asked: string | undefined;
  answer = (request, response) => {
    asked = `${request.method} ${request.url}`;
    response.writeHead(404).end(named);
  };
  await adapter.query(effect({ idempotencyKey: 'a&b' }), never);
  expect(asked).toBe('GET /do?x=1&idempotency_key=a%26b');
});

test.each([
  ['not a url', 'target_not_a_url'],
  ['file:///etc/passwd', 'target_not_http'],
  ['http://127.0.0.1:1/', 'origin_not_allowed'],
  ['https://example.com/', 'origin_not_allowed'],
  ['http://user:pw@127.0.0.1/', 'target_with_credentials'],
])('the target %s is refused before and at dispatch', async (target, reason) => {
  expect(adapter.check({ target } as ActionProposal)).toEqual({ ok: false, reason });
  expect(await adapter.dispatch(effect({ target }), never)).toEqual({ status: 'failed', reason });
  expect(await adapter.query(effect({ target }), never)).toMatchObject({ status: 'unknown' });
});
