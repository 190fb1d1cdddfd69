// One request as it is given, repeated fields and all, bounded in time and bytes.
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { parseJson } from '../wire/json.js';

export interface Call {
  readonly method: string;
  readonly url: string;
  readonly fields?: readonly (readonly [string, string])[];
  readonly body?: Uint8Array | string;
  readonly timeoutMs?: number;
}

export interface Reply {
  readonly status: number;
  readonly fields: ReadonlyMap<string, string>;
  readonly bytes: Buffer;
  readonly json: unknown;
}

const longestReply = 4 * 1024 * 1024;
const patienceMs = 20_000;

/** Early refusals: the target may answer and close while a long body is still on its way, and the answer may be lost with it. */
const attemptsAtLongBodies = 5;
const longBody = 262_144;
const headStartMs = 250;

export async function call(wanted: Call): Promise<Reply> {
  const isLong = wanted.body !== undefined && Buffer.byteLength(wanted.body) > longBody;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await callOnce(wanted);
    } catch (error) {
      if (!isLong || attempt >= attemptsAtLongBodies || !wasCutOff(error)) throw error;
    }
  }
}

function wasCutOff(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  return code === 'EPIPE' || code === 'ECONNRESET';
}

function callOnce({ method, url, fields = [], body, timeoutMs = patienceMs }: Call): Promise<Reply> {
  const target = new URL(url);
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const own: [string, string][] = [['host', target.host]];
  if (bytes) own.push(['content-length', String(bytes.byteLength)]);
  const named = new Set(fields.map(([name]) => name.toLowerCase()));
  const headers = [...own.filter(([name]) => !named.has(name)), ...fields].flat();
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const request = send(target, { method, headers, signal, agent: false }, (response) => {
      readReply(response)
        .then(resolve, reject)
        .finally(() => request.destroy());
    });
    request.on('error', (error) => reject(new Error(`${method} ${url}: ${error.message}`, { cause: error })));
    upload(request, bytes).catch(reject);
  });
}

/** A long body waits a moment after its header: most servers refuse it by its length, and close. */
async function upload(request: ClientRequest, bytes: Buffer | undefined): Promise<void> {
  if (bytes && bytes.byteLength > longBody) {
    request.flushHeaders();
    if (await answersWithin(request, headStartMs)) return;
  }
  request.end(bytes);
}

async function answersWithin(request: ClientRequest, ms: number): Promise<boolean> {
  try {
    await once(request, 'response', { signal: AbortSignal.timeout(ms) });
    return true;
  } catch {
    // Nothing came in time, or the request failed, which its caller is told.
    return request.destroyed;
  }
}

async function readReply(response: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > longestReply) throw new RangeError('the answer is longer than any that is allowed');
    chunks.push(Buffer.from(chunk));
  }
  const bytes = Buffer.concat(chunks);
  const fields = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return {
    status: response.statusCode ?? 0,
    fields: new Map(fields),
    bytes,
    json: parseJson(bytes.toString('utf8')),
  };
}
