/**
 * The outside world of the demo: a small HTTP server that does a thing once per idempotency key and counts. It knows
 * nothing of Hearth; what it counted is the proof that an effect happened once.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Longest request body that is read, in bytes. */
const maxBodyBytes = 64 * 1024;

export interface CountingServer {
  origin: string;
  /** How many different things were done: one per idempotency key. */
  done(): number;
  /** How many requests asked for something to be done, repeats included. */
  asked(): number;
  close(): Promise<void>;
}

export async function startCountingServer(): Promise<CountingServer> {
  const doneByKey = new Map<string, { number: number; body: unknown }>();
  let asked = 0;

  const server = createServer((request, response) => {
    if (request.method === 'GET') return answerStatus(request, response, doneByKey);
    readBody(request, (body) => {
      const key = request.headers['idempotency-key'];
      if (typeof key !== 'string' || body === undefined)
        return answer(response, 400, { error: 'key and JSON body needed' });
      asked += 1;
      const before = doneByKey.get(key);
      const entry = before ?? { number: doneByKey.size + 1, body };
      doneByKey.set(key, entry);
      answer(response, before ? 200 : 201, { number: entry.number, repeated: before !== undefined });
    });
  });
  await listen(server);
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    done: () => doneByKey.size,
    asked: () => asked,
    close: () => close(server),
  };
}

function answerStatus(request: IncomingMessage, response: ServerResponse, done: Map<string, { number: number }>): void {
  const key = new URL(request.url ?? '/', 'http://counting.test').searchParams.get('idempotency_key');
  const entry = key === null ? undefined : done.get(key);
  // The answer names the key: without it, a 404 could come from a server that knows nothing of keys.
  if (entry) answer(response, 200, { idempotency_key: key, number: entry.number, repeated: true });
  else answer(response, 404, { idempotency_key: key, error: 'nothing was done under this key' });
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function readBody(request: IncomingMessage, use: (body: unknown) => void): void {
  const parts: Buffer[] = [];
  let bytes = 0;
  request.on('data', (part: Buffer) => {
    bytes += part.length;
    if (bytes > maxBodyBytes) request.destroy();
    else parts.push(part);
  });
  request.on('end', () => {
    try {
      use(JSON.parse(Buffer.concat(parts).toString('utf8')));
    } catch {
      use(undefined);
    }
  });
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
