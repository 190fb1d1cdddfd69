// An outside system for effects: counts what it has really done, and fails in the ways that such systems fail.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** What becomes of the next POST; after the list is used up, every POST is answered. */
export type Behaviour = 'answer' | 'cut_before' | 'cut_after' | 'error_after' | 'refuse' | 'hang';

export interface CountingServer {
  url: string;
  origin: string;
  executions: { key: string; body: string }[];
  requests: { method: string; url: string }[];
  behave(...next: Behaviour[]): void;
  /** Runs while a POST is in the server's hands, before it is done. */
  during(hook: (() => Promise<void>) | undefined): void;
  close(): Promise<void>;
}

export interface StartCountingServer {
  honoursKeys?: boolean;
  /** To come back as the same system after a stop. */
  port?: number;
  executions?: CountingServer['executions'];
}

export async function startCountingServer(start: StartCountingServer = {}): Promise<CountingServer> {
  const { honoursKeys = true, port = 0, executions = [] } = start;
  const requests: CountingServer['requests'] = [];
  let behaviours: Behaviour[] = [];
  let hook: (() => Promise<void>) | undefined;

  async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = String(request.headers['idempotency-key'] ?? '');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    await hook?.();
    const behaviour = behaviours.shift() ?? 'answer';
    if (behaviour === 'hang') return;
    if (behaviour === 'cut_before') return void request.socket.destroy();
    if (behaviour === 'refuse') return void response.writeHead(422).end('{"error":"no"}');
    const known = honoursKeys && executions.some((execution) => execution.key === key);
    if (!known) executions.push({ key, body: Buffer.concat(chunks).toString() });
    if (behaviour === 'cut_after') return void request.socket.destroy();
    if (behaviour === 'error_after') return void response.writeHead(503).end();
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ done: executions.length }));
  }

  function get(request: IncomingMessage, response: ServerResponse): void {
    const key = new URL(request.url ?? '', 'http://x').searchParams.get('idempotency_key');
    if (!honoursKeys) return void response.writeHead(404).end('{"error":"no such page"}');
    const done = executions.some((execution) => execution.key === key);
    response.writeHead(done ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ idempotency_key: key, done }));
  }

  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '' });
    if (request.method === 'POST') void post(request, response).catch(() => request.socket.destroy());
    else get(request, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the counting server has no port');
  const origin = `http://127.0.0.1:${address.port}`;
  return {
    url: `${origin}/orders`,
    origin,
    executions,
    requests,
    behave: (...next) => {
      behaviours = next;
    },
    during: (next) => {
      hook = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
