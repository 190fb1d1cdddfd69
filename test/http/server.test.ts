// A listener over real HTTP: limits, problems, draining and what an unverified caller learns.
import { request as rawRequest } from 'node:http';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createCursors } from '../../src/http/cursor.js';
import type { Endpoint } from '../../src/http/endpoint.js';
import { jsonBody, rawBody } from '../../src/http/middleware/body.js';
import { type Listener, openListener } from '../../src/http/server.js';
import { createLog, systemClock, systemRandom } from '../../src/platform/index.js';
import { Problem } from '../../src/protocol/index.js';

const lines: string[] = [];
const log = createLog({
  level: 'trace',
  stream: new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  }),
});

let release: () => void = () => undefined;

const endpoints: Endpoint[] = [
  {
    method: 'GET',
    path: '/ok/:id',
    handle(ctx) {
      ctx.body = { id: ctx.params.id };
    },
  },
  {
    method: 'POST',
    path: '/bytes',
    async handle(ctx) {
      const body = await rawBody(ctx, { maxBytes: 1_000, mediaType: 'application/json', hint: 'use json' });
      ctx.body = { bytes: body.byteLength };
    },
  },
  {
    method: 'POST',
    path: '/shape',
    async handle(ctx) {
      ctx.state.verified = true;
      ctx.body = await jsonBody(ctx, z.strictObject({ name: z.string() }));
    },
  },
  {
    method: 'GET',
    path: '/boom',
    handle() {
      throw new Error('canary-secret in an unexpected error');
    },
  },
  {
    method: 'GET',
    path: '/refused',
    handle() {
      throw new Problem('signature_invalid', 'canary-secret detail', { extra: { component: 'content-digest' } });
    },
  },
  {
    method: 'GET',
    path: '/slow',
    handle: (ctx) =>
      new Promise((resolve) => {
        release = () => {
          ctx.body = { done: true };
          resolve();
        };
      }),
  },
];

let listener: Listener;

beforeAll(async () => {
  listener = await openListener({
    cursors: createCursors(new Uint8Array(32)),
    door: 'federation',
    host: '127.0.0.1',
    port: 0,
    endpoints,
    clock: systemClock(),
    random: systemRandom(),
    log,
  });
});

afterAll(() => listener.close(100));

describe('listener', () => {
  it('every answer carries a request id of ours', async () => {
    const response = await fetch(`${listener.url}/ok/7`, { headers: { 'x-request-id': 'forged' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-request-id')).toMatch(/^req_[A-Za-z0-9_-]{20}$/);
    expect(await response.json()).toEqual({ id: '7' });
  });

  it('what is not there is a problem document, and a wrong method names the right ones', async () => {
    const missing = await fetch(`${listener.url}/nowhere`);
    expect(missing.status).toBe(404);
    expect(missing.headers.get('content-type')).toContain('application/problem+json');
    expect(await missing.json()).toMatchObject({
      code: 'not_found',
      status: 404,
      request_id: missing.headers.get('x-request-id'),
    });
    const wrong = await fetch(`${listener.url}/ok/7`, { method: 'DELETE' });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toContain('GET');
    expect(await wrong.json()).toMatchObject({ code: 'method_not_allowed' });
  });

  it('a body at the limit is read, one byte more is 413, announced or not', async () => {
    const post = (init: RequestInit) =>
      fetch(`${listener.url}/bytes`, { method: 'POST', headers: { 'content-type': 'application/json' }, ...init });
    expect(await (await post({ body: 'x'.repeat(1_000) })).json()).toEqual({ bytes: 1_000 });
    expect((await post({ body: 'x'.repeat(1_001) })).status).toBe(413);
    const chunked = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.alloc(600));
        controller.enqueue(Buffer.alloc(401));
        controller.close();
      },
    });
    expect((await post({ body: chunked, ...{ duplex: 'half' } } as RequestInit)).status).toBe(413);
  });

  it('an encoding or another media type is 415, with a hint', async () => {
    const encoded = await fetch(`${listener.url}/bytes`, {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect(encoded.status).toBe(415);
    const form = await fetch(`${listener.url}/bytes`, { method: 'POST', body: new URLSearchParams({ payload: '{}' }) });
    expect(form.status).toBe(415);
    expect(await form.json()).toMatchObject({ code: 'unsupported_media_type', hint: 'use json' });
  });

  it('strict JSON of the right shape, or words that say what is wrong', async () => {
    const post = async (body: string) => {
      const response = await fetch(`${listener.url}/shape`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
      return [response.status, await response.json()];
    };
    expect(await post('{"name":"a"}')).toEqual([200, { name: 'a' }]);
    expect(await post('{"name":"a","name":"b"}')).toMatchObject([400, { code: 'malformed_json' }]);
    expect(await post('{"name":"a","role":"b"}')).toMatchObject([
      400,
      { code: 'schema_invalid', detail: expect.stringContaining('role') },
    ]);
    expect(await post('{"name":1}')).toMatchObject([400, { detail: expect.stringContaining('name') }]);
  });

  it('who has proved nothing, and who meets a fault of ours, learns the code and the request id only (BR-89)', async () => {
    for (const [path, status, code] of [
      ['/boom', 500, 'internal'],
      ['/refused', 401, 'signature_invalid'],
    ] as const) {
      const response = await fetch(`${listener.url}${path}`);
      const text = await response.text();
      expect([response.status, JSON.parse(text).code]).toEqual([status, code]);
      expect(text).not.toContain('canary-secret');
    }
    const refused = await fetch(`${listener.url}/refused`);
    expect(refused.headers.get('www-authenticate')).toBe('Signature');
    expect(await refused.json()).toMatchObject({ component: 'content-digest' });
  });

  it('the access log holds ids and the pattern of the route, never what a path or header says', async () => {
    lines.length = 0;
    await fetch(`${listener.url}/ok/canary-path?q=canary-query`, { headers: { authorization: 'Bearer canary-token' } });
    expect(lines.join('')).toContain('"route":"/ok/:id"');
    expect(lines.join('')).not.toContain('canary');
  });

  it('headers beyond the limit and requests that are none are refused before any endpoint', async () => {
    const huge = await new Promise<number | undefined>((resolve, reject) => {
      rawRequest(`${listener.url}/ok/1`, { headers: { 'x-huge': 'a'.repeat(20_000) } }, (response) =>
        resolve(response.resume().statusCode),
      )
        .on('error', reject)
        .end();
    });
    expect(huge).toBe(431);
    const garbage = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(listener.url).port), '127.0.0.1', () => socket.write('no http\r\n\r\n'));
      socket.on('data', (chunk: Buffer) => resolve(chunk.toString()));
    });
    expect(garbage).toContain('400');
  });
});

describe('draining', () => {
  it('requests in work end well, new ones get 503, then nothing listens', async () => {
    const own = await openListener({
      cursors: createCursors(new Uint8Array(32)),
      door: 'private',
      host: '127.0.0.1',
      port: 0,
      endpoints,
      clock: systemClock(),
      random: systemRandom(),
      log,
    });
    const slow = fetch(`${own.url}/slow`);
    await expect.poll(() => String(release)).toContain('done');
    own.drain();
    const late = await fetch(`${own.url}/ok/1`);
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await late.json()).toMatchObject({ code: 'draining' });
    const closed = own.close(5_000);
    release();
    expect((await slow).status).toBe(200);
    await closed;
    await expect(fetch(`${own.url}/ok/1`)).rejects.toThrow();
  });

  it('an answer that takes too long is given up, and its work still counts until it ends', async () => {
    const own = await openListener({
      cursors: createCursors(new Uint8Array(32)),
      door: 'private',
      host: '127.0.0.1',
      port: 0,
      endpoints,
      answerMs: 100,
      clock: systemClock(),
      random: systemRandom(),
      log,
    });
    const late = await fetch(`${own.url}/slow`);
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await late.json()).toMatchObject({ code: 'unavailable' });
    const closed = own.close(5_000).then(() => 'closed');
    const sooner = await Promise.race([
      closed,
      systemClock()
        .sleep(700)
        .then(() => 'in work'),
    ]);
    release();
    expect([sooner, await closed]).toEqual(['in work', 'closed']);
  });

  it('a port that is taken is refused in words', async () => {
    const port = Number(new URL(listener.url).port);
    const taken = openListener({
      cursors: createCursors(new Uint8Array(32)),
      door: 'private',
      host: '127.0.0.1',
      port,
      endpoints,
      clock: systemClock(),
      random: systemRandom(),
      log,
    });
    await expect(taken).rejects.toThrow(/HEARTH_API_PORT/);
  });
});
