// BR-88 at the level of connections: whatever bytes arrive, the caller is told what to do, the process stays, and a good
// message sent beside it arrives.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goodMessageArrives, type HostileWorld, openHostileWorld, rowsLeftBy } from './hostile-world.js';
import { hold, type Said, saySocket } from './wire.js';

let world: HostileWorld;
let federation = 0;
let api = 0;
const pid = process.pid;
const big = Buffer.alloc(10 * 1024 * 1024, 0x61);
const put = 'PUT /federation/v1/transactions/txn_domain_01m8qch4erz352et9d5zdjdak1 HTTP/1.1\r\nHost: x\r\n';
const json = 'Content-Type: application/json\r\n';

beforeAll(async () => {
  world = await openHostileWorld();
  federation = Number(new URL(world.domain.running.urls.federation).port);
  api = Number(new URL(world.domain.running.urls.api).port);
});
afterAll(() => world.close());

function expectRefused(said: Said, status: number, code: string): void {
  expect([said.status, said.body.code]).toEqual([status, code]);
  expect(said.body).toMatchObject({
    title: expect.any(String),
    action: expect.any(String),
    request_id: expect.any(String),
  });
}

describe('bytes that are no request', () => {
  const garbage: Record<string, (string | Uint8Array)[]> = {
    'a TLS hello': ['\x16\x03\x01\x02\x00\x01\x00'],
    'an HTTP/2 preface': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    'a body length and chunks at once': [
      `${put}${json}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
    ],
    'two body lengths': [`${put}Content-Length: 4\r\nContent-Length: 5\r\n\r\naaaa`],
    'a chunk size that is none': [`${put}${json}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc`],
    'a folded header': ['GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n'],
    'a space before the colon': ['GET /healthz HTTP/1.1\r\nHost: x\r\nFed-Origin : a\r\n\r\n'],
    'no Host': ['GET /healthz HTTP/1.1\r\n\r\n'],
    'NUL in the path': ['GET /federation/v1/%00 HTTP/1.1\r\nHost: x\r\n\r\n'],
    'an upload that ends early': [`${put}${json}Content-Length: 100\r\n\r\n{"a":`],
  };
  it.each(Object.keys(garbage))('%s is a 400 that says what to do', async (name) => {
    const said = await saySocket({ port: federation, parts: garbage[name] ?? [], end: name.includes('ends early') });
    expectRefused(said, 400, 'malformed_request');
    await goodMessageArrives(world);
  });

  it('a header beyond the limit is a 431 that says what to do', async () => {
    const said = await saySocket({
      port: federation,
      parts: [`GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
    });
    expectRefused(said, 431, 'headers_too_large');
  });

  it('pipelined garbage does not take the place of the answer before it', async () => {
    const said = await saySocket({
      port: federation,
      parts: ['GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n\x00\x01garbage\r\n\r\n'],
    });
    expect([0, 200]).toContain(said.status);
    await goodMessageArrives(world);
  });

  it('many requests on one connection at once do not take the places of others', async () => {
    const said = saySocket({ port: federation, parts: ['GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000)] });
    await goodMessageArrives(world);
    await said;
  });
});

describe('bodies of 10 MB', () => {
  const token = () => `Authorization: Bearer ${world.domain.operatorToken}\r\n`;
  const length = `Content-Length: ${big.byteLength}\r\n\r\n`;
  const chunked = [`Transfer-Encoding: chunked\r\n\r\n${big.byteLength.toString(16)}\r\n`, big, '\r\n0\r\n\r\n'];
  it.each([
    ['a transaction', 413, 'too_large', () => [federation, [`${put}${json}${length}`, big]]],
    ['a transaction in chunks', 413, 'too_large', () => [federation, [`${put}${json}`, ...chunked]]],
    [
      'a webhook',
      413,
      'too_large',
      () => [federation, [`POST /webhooks/github/x HTTP/1.1\r\nHost: x\r\n${json}${length}`, big]],
    ],
    [
      'an input',
      413,
      'too_large',
      () => [api, [`POST /v1/inputs HTTP/1.1\r\nHost: x\r\n${token()}${json}${length}`, big]],
    ],
    [
      'an input without a credential',
      401,
      'unauthorized',
      () => [api, [`POST /v1/inputs HTTP/1.1\r\nHost: x\r\n${json}${length}`, big]],
    ],
    [
      'another media type',
      415,
      'unsupported_media_type',
      () => [api, [`POST /v1/inputs HTTP/1.1\r\nHost: x\r\n${token()}${length}`, big]],
    ],
    [
      'what claims to be compressed',
      415,
      'unsupported_media_type',
      () => [federation, [`${put}${json}Content-Encoding: gzip\r\n${length}`, big]],
    ],
    [
      'a path that does not exist',
      404,
      'not_found',
      () => [federation, [`POST /nowhere HTTP/1.1\r\nHost: x\r\n${json}${length}`, big]],
    ],
  ] as [string, number, string, () => [number, (string | Uint8Array)[]]][])(
    '%s: the answer reaches even a client that is still sending',
    async (_, status, code, request) => {
      const [port, parts] = request();
      const left = await rowsLeftBy(world.domain, async () => {
        for (let n = 0; n < 3; n += 1) expectRefused(await saySocket({ port, parts }), status, code);
      });
      expect(left).toEqual({});
    },
  );

  it('what goes on after its refusal is cut', async () => {
    const chunk = Buffer.concat([Buffer.from(`${big.byteLength.toString(16)}\r\n`), big, Buffer.from('\r\n')]);
    const socket = await hold(federation, `${put}${json}Transfer-Encoding: chunked\r\n\r\n`);
    for (let n = 0; n < 4; n += 1) socket.write(chunk);
    await expect.poll(() => socket.closed, { timeout: 10_000 }).toBe(true);
    await goodMessageArrives(world);
  });
});

describe('slow senders', () => {
  it('300 bodies that never end do not close the door: the longest sender makes room, good traffic goes on', async () => {
    const slow = await Promise.all(
      Array.from({ length: 300 }, () => hold(federation, `${put}${json}Content-Length: 100000\r\n\r\n{`)),
    );
    for (let n = 0; n < 5; n += 1) await goodMessageArrives(world);
    expect((await fetch(`${world.domain.running.urls.federation}/healthz`)).status).toBe(200);
    await expect
      .poll(() => slow.filter((socket) => socket.destroyed || socket.readableEnded).length)
      .toBeGreaterThan(150);
    for (const socket of slow) socket.destroy();
  });

  it('1,200 connections that send nothing, or half a header, do not close the door', async () => {
    const silent = await Promise.all(
      Array.from({ length: 1_200 }, (_, n) => hold(federation, n % 2 ? 'GET /healthz HTTP/1.1\r\nHost:' : '')),
    );
    for (let n = 0; n < 5; n += 1) await goodMessageArrives(world);
    for (const socket of silent) socket.destroy();
  });
});

it('all of it was one process', async () => {
  expect(process.pid).toBe(pid);
  await goodMessageArrives(world);
});
