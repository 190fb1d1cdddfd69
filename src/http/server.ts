// A listener: Koa over node:http with hard limits on time and size, one for each door.
import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { type Clock, type Log, type Random, StartRefused } from '../platform/index.js';
import { describeProblem, type ProblemCode, toBase64url } from '../protocol/index.js';
import { type Connections, watchConnections } from './connections.js';
import type { Cursors } from './cursor.js';
import type { DoorContext, DoorState, Endpoint } from './endpoint.js';
import { accessLog } from './middleware/access-log.js';
import { type AuthenticateToken, authenticate } from './middleware/authenticate.js';
import { type InFlight, inFlight } from './middleware/in-flight.js';
import { plainHttp } from './middleware/plain-http.js';
import { problemDetails } from './middleware/problem-details.js';
import { requestId } from './middleware/request-id.js';
import { timeLimit } from './middleware/time-limit.js';

export interface OpenListener {
  door: 'federation' | 'private';
  host: string;
  /** 0 takes a free port. */
  port: number;
  endpoints: readonly Endpoint[];
  cursors: Cursors;
  /** Given for a door where every request needs a bearer token. */
  authenticateToken?: AuthenticateToken;
  /** How long an answer may take. */
  answerMs?: number;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface Listener {
  /** Where it listens, with the port that was really taken. */
  url: string;
  /** New requests get 503 `draining`; what is in work goes on. */
  drain(): void;
  /** Waits for the requests in work, at most `graceMs`, then closes every connection. */
  close(graceMs: number): Promise<void>;
}

const requestLimits = { inWork: 256, perConnection: 16, arriving: 128 };
const connectionLimit = 1_024;
// Longer than a transaction may take, and shorter than clients wait.
const answerMs = 25_000;

export async function openListener(options: OpenListener): Promise<Listener> {
  const gate = inFlight(requestLimits);
  const answer = composeApp(options, gate).callback();
  const server = createServer(serverLimits, answer);
  // An expectation that nobody here can meet may be passed over (RFC 9110); node:http would refuse it without a word.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  const connections = watchConnections(server, { limit: connectionLimit, clock: options.clock });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    refuseClient(error, socket, { connections, random: options.random }),
  );
  const port = await listen(server, options);
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    drain: gate.drain,
    close: (graceMs) => close(server, gate, { clock: options.clock, graceMs }),
  };
}

const serverLimits = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16 * 1024,
  // Refused with a reason by ours.
  requireHostHeader: false,
  // Duplicate headers stay visible to who verifies signatures.
  joinDuplicateHeaders: false,
};

function composeApp(options: OpenListener, gate: InFlight): Koa<DoorState> {
  const { log, clock, random, authenticateToken } = options;
  const app = new Koa<DoorState>();
  app.silent = true;
  // Only what breaks after the answer has begun ends here, such as a caller that went away.
  app.on('error', (error: unknown) => log.debug({ err: error, door: options.door }, 'answer cut short'));
  app.use(requestId(random));
  app.use((ctx, next) => {
    ctx.state.cursors = options.cursors;
    return next();
  });
  app.use(accessLog(log, clock));
  app.use(problemDetails({ log, challenge: authenticateToken ? 'Bearer' : 'Signature' }));
  app.use(plainHttp);
  app.use(timeLimit(clock, options.answerMs ?? answerMs));
  app.use(gate.middleware);
  if (authenticateToken) app.use(authenticate(authenticateToken));
  const router = composeRouter(options.endpoints);
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}

function composeRouter(endpoints: readonly Endpoint[]): Router<DoorState> {
  const router = new Router<DoorState>({ sensitive: true, strict: true });
  for (const { method, path, handle } of endpoints) {
    router.register(path, [method], async (ctx) => {
      await handle(ctx as DoorContext);
    });
  }
  return router;
}

function listen(server: Server, { door, host, port }: OpenListener): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const setting = door === 'federation' ? 'HEARTH_FEDERATION_PORT' : 'HEARTH_API_PORT';
      reject(
        new StartRefused(
          `The ${door} door cannot listen on ${host}:${port} (${cause.code}). Set ${setting} to a free port.`,
          {
            cause,
          },
        ),
      );
    });
    server.listen({ host, port }, () => {
      server.removeAllListeners('error');
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** What node:http itself could not read as a request is answered here, unless an answer is already on its way. */
function refuseClient(
  error: NodeJS.ErrnoException,
  socket: Socket,
  { connections, random }: { connections: Connections; random: Random },
): void {
  if (!socket.writable || error.code === 'ECONNRESET' || !connections.mayBeRefused(socket)) {
    socket.destroy();
    return;
  }
  const code = clientFaults[error.code ?? ''] ?? 'malformed_request';
  const { status, title, action } = describeProblem(code);
  const requestId = `req_${toBase64url(random.bytes(15))}`;
  const body = JSON.stringify({
    type: `urn:hearth:problem:${code}`,
    title,
    status,
    code,
    action,
    request_id: requestId,
  });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

const clientFaults: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'too_slow',
};

async function close(
  server: Server,
  gate: InFlight,
  { clock, graceMs }: { clock: Clock; graceMs: number },
): Promise<void> {
  gate.drain();
  const grace = new AbortController();
  await Promise.race([gate.settled(), clock.sleep(graceMs, grace.signal)]);
  grace.abort();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Answers already written get a moment to leave; the rest, open streams included, is cut.
  const cut = clock.timer(500, () => server.closeAllConnections());
  await closed;
  cut.cancel();
}
