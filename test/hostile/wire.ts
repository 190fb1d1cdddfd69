// Raw sockets: what no HTTP client would send. Each call tells all that came back and how the connection ended.
import { connect, type Socket } from 'node:net';
import { systemClock } from '../../src/platform/index.js';

const clock = systemClock();

export interface Said {
  status: number;
  /** The JSON body of the first answer, when it has one. */
  body: Record<string, unknown>;
  text: string;
  /** Whether the door closed the connection before the patience ended. */
  closed: boolean;
}

export interface Say {
  port: number;
  parts: readonly (string | Uint8Array)[];
  /** Half-closes after the last part. */
  end?: boolean;
  patienceMs?: number;
}

/** Sends the parts, then listens until an answer is whole or the connection ends. */
export async function saySocket({ port, parts, end = false, patienceMs = 5_000 }: Say): Promise<Said> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let closed = false;
  const over = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (isWhole(text)) resolve();
    });
    socket.once('close', () => {
      closed = true;
      resolve();
    });
    socket.on('error', () => undefined);
  });
  for (const part of parts) socket.write(part);
  if (end) socket.end();
  const patience = new AbortController();
  await Promise.race([over, clock.sleep(patienceMs, patience.signal)]);
  patience.abort();
  socket.destroy();
  return { ...readFirst(text), text, closed };
}

/** Opens a connection, writes, and leaves it open. */
export async function hold(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  // Read, so that the end of it is noticed.
  socket.resume();
  socket.write(text);
  return socket;
}

function isWhole(text: string): boolean {
  const split = text.indexOf('\r\n\r\n');
  const length = /\r\ncontent-length: ([0-9]+)/i.exec(text)?.[1];
  return split >= 0 && length !== undefined && text.length >= split + 4 + Number(length);
}

function readFirst(text: string): { status: number; body: Record<string, unknown> } {
  const status = Number(/^HTTP\/1\.1 ([0-9]{3})/.exec(text)?.[1] ?? 0);
  const length = Number(/\r\ncontent-length: ([0-9]+)/i.exec(text)?.[1] ?? 0);
  const body = text.slice(text.indexOf('\r\n\r\n') + 4).slice(0, length);
  return { status, body: body.startsWith('{') ? JSON.parse(body) : {} };
}
