// A listener: Koa over node:http with hard limits on time and size, one for each door.
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { type Clock, type Log, type Random, StartRefused } from '../platform/index.js';
import type { DoorContext, DoorState, Endpoint } from './endpoint.js';
import { accessLog } from './middleware/access-log.js';
import { type AuthenticateToken, authenticate } from './middleware/authenticate.js';
import { type InFlight, inFlight } from './middleware/in-flight.js';
import { problemDetails } from './middleware/problem-details.js';
import { requestId } from './middleware/request-id.js';

export interface OpenListener {
  door: 'federation' | 'private';
  host: string;
  /** 0 takes a free port. */
  port: number;
  endpoints: readonly Endpoint[];
  /** Given for a door where every request needs a bearer token. */
  authenticateToken?: AuthenticateToken;
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

const requestsInFlight = 256;
const connections = 1_024;

export async function openListener(options: OpenListener): Promise<Listener> {
  const gate = inFlight(requestsInFlight);
  const server = createServer(serverLimits, composeApp(options, gate).callback());
  server.maxConnections = connections;
  server.on('clientError', refuseClient);
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
  app.use(accessLog(log, clock));
  app.use(problemDetails({ log, challenge: authenticateToken ? 'Bearer' : 'Signature' }));
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

/** What node:http itself could not read as a request gets a bare status line. */
function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const statuses: Record<string, string> = {
    HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
    ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  };
  socket.end(`HTTP/1.1 ${statuses[error.code ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
}

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
