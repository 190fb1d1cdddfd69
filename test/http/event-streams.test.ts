// Streams of run events under strain: restarts, runs that end at once, readers that do not read, and too many of them.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runStreams } from '../../src/http/agent-api/stream-run-events.js';
import { createCursors } from '../../src/http/cursor.js';
import type { Endpoint } from '../../src/http/endpoint.js';
import { type Listener, openListener } from '../../src/http/server.js';
import { createWakeups, systemClock, systemRandom } from '../../src/platform/index.js';
import { createTestDatabase, type TestDatabase, testLog } from '../support/database.js';
import { type DomainChild, domainChild, freePort } from '../support/domain-child.js';
import { callDoor, startTestDomain, type TestDomain } from '../support/test-domain.js';

const long = process.env.HEARTH_TEST_LONG === '1';

interface Read {
  seqs: number[];
  lastId: string;
  /** What the `end` event said, once it has come. */
  end: string | undefined;
}

/** Reads a stream until it ends, or until `stopAfter` events have come. */
async function readStream(
  url: string,
  token: string,
  more: { lastId?: string; stopAfter?: number } = {},
): Promise<Read> {
  const response = await fetch(url, {
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'text/event-stream',
      ...(more.lastId === undefined ? {} : { 'last-event-id': more.lastId }),
    },
  });
  expect(response.status).toBe(200);
  const read: Read = { seqs: [], lastId: '', end: undefined };
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      if (frame.startsWith('event: end')) read.end = frame;
      const seq = /"seq":(\d+),/.exec(frame)?.[1];
      if (seq === undefined) continue;
      read.seqs.push(Number(seq));
      read.lastId = /^id: (.+)$/m.exec(frame)?.[1] ?? '';
      // Leaving the loop cuts the connection.
      if (read.seqs.length === more.stopAfter) return read;
    }
  }
  return read;
}

const rules = [
  {
    when: { type: 'talk' },
    steps: [...Array.from({ length: 6 }, (_, n) => ({ say: `word ${n}` })), { complete: 'done' }],
  },
  { when: { type: 'quick' }, steps: [{ complete: 'done' }] },
];
const agent = { name: 'talker', runtime: { id: 'scripted', config: { rules } } };

describe('a restart of the server (BR-67)', () => {
  let child: DomainChild;

  beforeAll(async () => {
    const [federationPort, apiPort] = [await freePort(), await freePort()];
    child = await domainChild({ domain: 'alpha.test', federationPort, apiPort });
    await child.start();
  }, 60_000);

  afterAll(() => child.remove());

  it('cut after event 2, the server killed and started again: 3 to n in order, then the end', {
    timeout: 90_000,
  }, async () => {
    const api = (method: string, path: string, body?: object) =>
      callDoor(method, `${child.apiUrl}${path}`, { token: child.operatorToken(), ...(body ? { body } : {}) });
    expect((await api('POST', '/admin/v1/agents', agent)).status).toBe(201);
    const sent = await api('POST', '/v1/inputs', {
      kind: 'command',
      type: 'talk',
      source_event_id: 'talk',
      target: { agent: 'talker' },
    });
    let run: unknown;
    await expect
      .poll(
        async () => {
          [run] = (await api('GET', `/v1/inputs/${sent.text('input_id')}`)).body.run_refs as unknown[];
          return run === undefined ? undefined : (await api('GET', `/v1/runs/${run}`)).body.status;
        },
        { timeout: 15_000 },
      )
      .toBe('completed');
    const url = `${child.apiUrl}/v1/runs/${run}/events`;
    const first = await readStream(url, child.operatorToken(), { stopAfter: 2 });
    expect(first.seqs).toEqual([1, 2]);
    await child.kill();
    await child.start();
    const second = await readStream(url, child.operatorToken(), { lastId: first.lastId });
    expect(second.seqs.length).toBeGreaterThan(5);
    expect(second.seqs).toEqual(second.seqs.map((_, index) => index + 3));
    expect(second.end).toContain('"status":"completed"');
  });
});

describe('runs that end at once (BR-67)', () => {
  let domain: TestDomain;

  beforeAll(async () => {
    domain = await startTestDomain();
    await domain.api('POST', '/admin/v1/agents', { body: agent });
  });

  afterAll(() => domain.stop());

  const rounds = long ? 500 : 40;

  it(`${rounds} runs of about a millisecond: the final event is always seen, then the end`, {
    timeout: 300_000,
  }, async () => {
    const followed = async (round: number) => {
      const body = { kind: 'command', type: 'quick', source_event_id: `quick-${round}`, target: { agent: 'talker' } };
      const sent = await domain.api('POST', '/v1/inputs', { body });
      let run: unknown;
      while (run === undefined)
        [run] = (await domain.api('GET', `/v1/inputs/${sent.text('input_id')}`)).body.run_refs as unknown[];
      const read = await readStream(`${domain.running.urls.api}/v1/runs/${run}/events`, domain.operatorToken);
      const { body: page } = await domain.api('GET', `/v1/runs/${run}/events?limit=200`);
      const all = page.items as { seq: number; type: string }[];
      expect([round, read.seqs, read.end?.includes('"status":"completed"')]).toEqual([
        round,
        all.map(({ seq }) => seq),
        true,
      ]);
      expect(all.at(-1)?.type).toBe('run.completed');
    };
    // Beside each other, so that streams open before, while and after their runs end.
    for (let round = 0; round < rounds; round += 8)
      await Promise.all(Array.from({ length: Math.min(8, rounds - round) }, (_, index) => followed(round + index)));
  });
});

describe('limits', () => {
  const limits = { atOnce: 3, perCaller: 2, chunkBytes: 64 * 1024, heartbeatMs: 50, stallMs: 300 };
  const clock = systemClock();
  const log = testLog();
  const [home, idle, loud] = [
    'streamhome01',
    'run_streamhome01_01000000000000000000000001',
    'run_streamhome01_01000000000000000000000002',
  ];
  const closing = new AbortController();
  const sockets: Socket[] = [];
  let test: TestDatabase;
  let listener: Listener;
  let streaming = 0;
  const openConnections = () => streaming;

  beforeAll(async () => {
    test = await createTestDatabase();
    const { sql } = test.database;
    for (const id of [idle, loud]) {
      await sql`
        insert into foundation.runs (home, id, tenant, session_id, status, activation_candidate_id, runtime_id,
                                     runtime_version, input_log_cursor, event_cursor)
        values (${home}, ${id}, 'default', 'ses', 'queued', 'cand', 'r', '1', 0, ${id === loud ? 400 : 0})`;
    }
    await sql`
      insert into foundation.run_events (home, run_id, seq, type, data)
      select ${home}, ${loud}, n, 'output', jsonb_build_object('text', repeat('x', 60000)) from generate_series(1, 400) n`;
    const wakeups = createWakeups({ clock, log, instance: 'streams' });
    const streams = runStreams({ sql, wakeups, clock, closing: closing.signal, limits });
    const endpoint: Endpoint = {
      method: 'GET',
      path: '/streams/:run/:caller',
      handle(ctx) {
        Object.assign(ctx.state, { caller: { credentialId: ctx.params.caller } });
        streams.open(ctx, { runId: ctx.params.run ?? '', after: 0, cursorAt: String });
        streaming += 1;
        ctx.res.once('close', () => (streaming -= 1));
      },
    };
    listener = await openListener({
      door: 'federation',
      host: '127.0.0.1',
      port: 0,
      endpoints: [endpoint],
      cursors: createCursors(new Uint8Array(32)),
      clock,
      random: systemRandom(),
      log,
    });
  });

  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    closing.abort();
    await listener.close(100);
    await test.drop();
  });

  /** A connection that reads only when told to. */
  function open(run: string, caller: string) {
    const socket = connect(Number(new URL(listener.url).port), '127.0.0.1');
    sockets.push(socket);
    let text = '';
    let closed = false;
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => (closed = true));
    socket.write(`GET /streams/${run}/${caller} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return {
      socket,
      said: () => text,
      closed: () => closed,
      status: async () => {
        await expect.poll(() => text).toContain('\r\n\r\n');
        return Number(text.slice(9, 12));
      },
    };
  }

  it('at the limit of one caller and at that of all, one more is refused, and room made is used', async () => {
    const own = [open(idle, 'a'), open(idle, 'a')];
    for (const stream of own) expect(await stream.status()).toBe(200);
    const beyond = open(idle, 'a');
    expect(await beyond.status()).toBe(429);
    expect(beyond.said()).toContain('Retry-After: 5');
    const last = open(idle, 'b');
    expect(await last.status()).toBe(200);
    expect(await open(idle, 'c').status()).toBe(429);
    own[0]?.socket.destroy();
    await expect.poll(() => open(idle, 'c').status()).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it('an idle run is kept alive by heartbeats', async () => {
    const stream = open(idle, 'beat');
    await expect.poll(() => stream.said().match(/: beat/g)?.length ?? 0).toBeGreaterThan(2);
    stream.socket.destroy();
  });

  it('a reader that reads nothing is cut, and until then the log is read only as far as it takes', async () => {
    await expect.poll(() => openConnections()).toBe(0);
    const stream = open(loud, 'slow');
    stream.socket.pause();
    await expect.poll(() => openConnections()).toBe(1);
    // The server gives up: what still comes out afterwards lay in the kernel's buffers.
    await expect.poll(() => openConnections(), { timeout: 10_000 }).toBe(0);
    stream.socket.resume();
    await expect.poll(() => stream.closed(), { timeout: 10_000 }).toBe(true);
    const seqs = [...stream.said().matchAll(/"seq":(\d+),/g)].map((match) => Number(match[1]));
    // 24 MB wait in the log; what was taken from it is what the kernel's buffers hold and a chunk or two.
    expect(seqs.length).toBeLessThan(400);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    // Its place is free, and with its cursor it goes on.
    const again = open(loud, 'slow');
    await expect.poll(() => again.said(), { timeout: 20_000 }).toContain('"seq":400,');
    again.socket.destroy();
  });
});
