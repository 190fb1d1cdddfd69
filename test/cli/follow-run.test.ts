import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { runCli, testToken } from './cli-world.js';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

type Play = (response: ServerResponse, seen: { connection: number; after: string }) => void;

/** A door with one run; `play` answers each connection to its event stream. */
async function doorWith(play: Play, status = 'completed'): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const run = {
    id: 'run_1',
    agent: 'a',
    session_id: 's',
    status,
    attempt: 1,
    runtime_id: 'r',
    runtime_version: '1',
    created_at: 'x',
  };
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://door');
    if (!url.pathname.endsWith('/events')) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(run));
      return;
    }
    connections += 1;
    play(response, { connection: connections, after: url.searchParams.get('after') ?? '' });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, connections: () => connections };
}

function frame(seq: number): string {
  return `id: ${seq}\nevent: output\ndata: {"seq":${seq},"type":"output","data":{"n":${seq}},"at":"2024-06-07T00:00:00.000Z"}\n\n`;
}

function follow(url: string, ...more: string[]) {
  return runCli(['runs', 'events', 'run_1', '--follow', '--json', '--url', url, ...more]);
}

function numbers(out: string): number[] {
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).seq);
}

describe('following a run', () => {
  it('goes on behind the last event after a cut: each event once, in order (F11)', async () => {
    const asked: string[] = [];
    const door = await doorWith((response, { connection, after }) => {
      asked.push(after);
      response.setHeader('content-type', 'text/event-stream');
      if (connection === 1) {
        response.write(`retry: 1000\n\n: beat\n\n${frame(1)}${frame(2)}`);
        response.write('id: 3\nevent: output\nda', () => response.destroy());
      } else if (connection === 2) {
        response.end(`${frame(2)}${frame(3)}`);
      } else {
        response.end(`${frame(4)}event: end\ndata: {"cursor":4}\n\n`);
      }
    });
    const ran = await follow(door.url);
    expect(numbers(ran.out)).toEqual([1, 2, 3, 4]);
    expect(asked).toEqual(['', '2', '3']);
    expect(ran.exitCode).toBe(0);
    expect(ran.err).toContain('The run ended completed.');
  });

  it('starts after the event that is named', async () => {
    const door = await doorWith((response, { after }) => {
      response.end(`${frame(Number(after) + 1)}event: end\ndata: {}\n\n`);
    });
    expect(numbers((await follow(door.url, '--after', '7')).out)).toEqual([8]);
  });

  it('exits 1 when the run ended badly', async () => {
    const door = await doorWith((response) => response.end('event: end\ndata: {}\n\n'), 'failed');
    expect(await follow(door.url)).toMatchObject({ exitCode: 1, err: expect.stringContaining('The run ended failed') });
  });

  it('outlives a door that is draining, and gives up after ten cuts without an event', async () => {
    const draining = await doorWith((response, { connection }) => {
      if (connection === 1) return response.end(frame(1));
      if (connection < 5) return response.writeHead(503).end('{"code":"draining","title":"Stopping"}');
      return response.end(`${frame(2)}event: end\ndata: {}\n\n`);
    });
    expect(numbers((await follow(draining.url)).out)).toEqual([1, 2]);

    const dead = await doorWith((response) => response.end(': beat\n\n'));
    expect(await follow(dead.url)).toMatchObject({ exitCode: 3, out: '' });
    expect(dead.connections()).toBe(10);
  });

  it('ends at once where asking again would not help', async () => {
    const missing = await doorWith((response) =>
      response.writeHead(404).end('{"code":"not_found","title":"Nothing here"}'),
    );
    expect((await follow(missing.url)).exitCode).toBe(1);
    expect(missing.connections()).toBe(1);
    const nonsense = await doorWith((response) => response.end('data: {"hello":1}\n\n'));
    expect((await follow(nonsense.url)).exitCode).toBe(1);
    expect(nonsense.connections()).toBe(1);
    expect((await runCli(['runs', 'events', 'x', '--follow', '--url', 'http://127.0.0.1:1'])).exitCode).toBe(3);
  });

  it('never shows the token', async () => {
    const door = await doorWith((response) => response.writeHead(401).end('{"code":"unauthorized","title":"No"}'));
    const ran = await follow(door.url);
    expect(ran.out + ran.err).not.toContain(testToken);
  });
});
