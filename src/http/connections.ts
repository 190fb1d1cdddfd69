/**
 * The connections of a door. When all places are taken, the one that has waited longest without a request in work makes
 * room: whoever only holds connections open keeps nobody out (BR-88).
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../platform/index.js';

export interface Connections {
  /** True while a status line on this connection can only be understood as the answer to what was not readable on it. */
  mayBeRefused(socket: Socket): boolean;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

// Between the bound and this, a newcomer and the one that makes room for it are open at once.
const spare = 64;
/** A refusal is not read by a client that is still sending: so much of the rest is taken and thrown away. */
const lingerBytes = 16 * 1024 * 1024;
const lingerMs = 5_000;

export function watchConnections(server: Server, { limit, clock }: { limit: number; clock: Clock }): Connections {
  const exchanges = new Map<Socket, Set<Exchange>>();
  // In the order in which they began to wait.
  const waiting = new Set<Socket>();
  server.maxConnections = limit + spare;

  server.on('connection', (socket: Socket) => {
    exchanges.set(socket, new Set());
    waiting.add(socket);
    socket.once('close', () => {
      exchanges.delete(socket);
      waiting.delete(socket);
    });
    if (exchanges.size > limit) dropLongestWaiting(waiting);
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    const exchange = { request, response };
    exchanges.get(socket)?.add(exchange);
    waiting.delete(socket);
    response.once('finish', () => discardRest(request, clock));
    response.once('close', () => {
      const others = exchanges.get(socket);
      others?.delete(exchange);
      if (others?.size === 0 && !socket.destroyed) waiting.add(socket);
    });
  });
  return {
    mayBeRefused(socket) {
      const [first, second] = exchanges.get(socket) ?? [];
      if (!first) return true;
      return second === undefined && !first.request.complete && !first.response.headersSent;
    },
  };
}

function dropLongestWaiting(waiting: Set<Socket>): void {
  const [longest] = waiting;
  if (!longest) return;
  waiting.delete(longest);
  longest.destroy();
}

/** Closing at once would reset the connection, and the answer would be lost on the way to a client that still sends. */
function discardRest(request: IncomingMessage, clock: Clock): void {
  if (request.complete) return;
  let bytes = 0;
  const cut = clock.timer(lingerMs, () => request.socket.destroy());
  request.once('close', () => cut.cancel());
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > lingerBytes) request.socket.destroy();
  });
  request.resume();
}
