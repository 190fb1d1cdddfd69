// The door of every played domain: one plain HTTP listener; which domain is meant stands in the Host field.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Fields } from '../wire/http-signature.js';

export interface Received {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly fields: Fields;
  readonly body: Buffer;
  readonly atMs: number;
}

export interface Answer {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Writes the answer itself, for answers that no honest server gives. */
export type RawAnswer = (response: ServerResponse) => void;
export type Handler = (request: Received) => Answer | RawAnswer | Promise<Answer | RawAnswer>;

export interface Listener {
  readonly origin: string;
  readonly handlers: Map<string, Handler>;
  close(): Promise<void>;
}

const longestBody = 8 * 1024 * 1024;

export async function openListener(listen: { host: string; port: number }): Promise<Listener> {
  const handlers = new Map<string, Handler>();
  const server = createServer((request, response) => {
    answer(handlers, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, listen.host, resolve);
  });
  return {
    origin: `http://${listen.host}:${portOf(server)}`,
    handlers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function answer(
  handlers: ReadonlyMap<string, Handler>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const received = await read(request);
  const handler = handlers.get(received.host);
  const said = handler ? await handler(received) : { status: 404, body: 'nobody of this name is played here' };
  if (typeof said === 'function') return said(response);
  const { status = 200, fields = {}, body = '' } = said;
  response.writeHead(status, { 'content-type': 'application/json', ...fields }).end(body);
}

async function read(request: IncomingMessage): Promise<Received> {
  const atMs = performance.now();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > longestBody) throw new RangeError('the request is too long');
    chunks.push(Buffer.from(chunk));
  }
  const { rawHeaders } = request;
  const fields = rawHeaders.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : [],
  );
  const host = (request.headers.host ?? '').replace(/:\d+$/, '');
  return {
    method: request.method ?? '',
    host,
    path: request.url ?? '',
    fields,
    body: Buffer.concat(chunks),
    atMs,
  };
}
