// The one way out: every outbound request goes through this guarded client.
import { Agent, buildConnector, type Dispatcher, request as send } from 'undici';
import { AddressBlocked, guardedLookup, type LookupAll, refuseBlockedLiteral } from './address-guard.js';
import type { Clock } from './clock.js';
import { linkedAbort } from './linked-abort.js';

export type PeerFault =
  | 'bad_url'
  | 'not_https'
  | 'address_blocked'
  | 'unreachable'
  | 'timed_out'
  | 'aborted'
  | 'redirected'
  | 'answer_too_large'
  | 'answer_encoded'
  | 'answer_invalid'
  | 'refused';

/** A peer or the way to it failed. `retryable` says whether the same request may do better later. */
export class PeerError extends Error {
  override readonly name = 'PeerError';
  readonly reason: PeerFault;
  readonly retryable: boolean;
  /** What the peer asked for by Retry-After, when it answered at all. */
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;

  constructor(
    reason: PeerFault,
    message: string,
    options: { retryable: boolean; cause?: unknown; status?: number; retryAfterMs?: number },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.retryable = options.retryable;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Domain to the origin dialled instead, for reserved names only; the configuration sees to that. */
export type ResolveMap = ReadonlyMap<string, string>;

export interface PeerRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array;
  maxBytes: number;
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface PeerResponse {
  status: number;
  /** Names in lower case; a repeated header is joined by ", ". */
  headers: Record<string, string>;
  body: Uint8Array;
}

export interface PeerHttp {
  request(request: PeerRequest): Promise<PeerResponse>;
  close(): Promise<void>;
}

export interface CreatePeerHttp {
  resolve: ResolveMap;
  clock: Clock;
  /** Origins that may be private or plain http, because the operator said so. */
  allowOrigins?: readonly string[];
  lookup?: LookupAll;
}

const connectMs = 10_000;

export function createPeerHttp(options: CreatePeerHttp): PeerHttp {
  const guarded = new Agent({ connect: guardedConnector(options.lookup), connections: 8 });
  const trusted = new Agent({ connect: { timeout: connectMs }, connections: 8 });
  const allowed = new Set((options.allowOrigins ?? []).map((origin) => new URL(origin).origin));

  return {
    async request(request) {
      const route = routeOf(request.url, options.resolve, allowed);
      return exchange(request, { ...route, dispatcher: route.trusted ? trusted : guarded, clock: options.clock });
    },
    async close() {
      await Promise.all([guarded.destroy(), trusted.destroy()]);
    },
  };
}

interface Route {
  dialled: URL;
  /** What the request calls its host, whatever is dialled. */
  host: string;
  trusted: boolean;
}

function routeOf(text: string, resolve: ResolveMap, allowed: ReadonlySet<string>): Route {
  if (!URL.canParse(text)) throw new PeerError('bad_url', 'the address to call is not a URL', { retryable: false });
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw new PeerError('bad_url', 'an address to call may not carry a user or password', { retryable: false });
  }
  const target = resolve.get(url.hostname);
  if (target !== undefined) {
    return { dialled: new URL(`${url.pathname}${url.search}`, target), host: url.host, trusted: true };
  }
  if (allowed.has(url.origin)) return { dialled: url, host: url.host, trusted: true };
  if (url.protocol !== 'https:') {
    throw new PeerError('not_https', `${url.origin} is not https`, { retryable: false });
  }
  return { dialled: url, host: url.host, trusted: false };
}

type Exchange = Route & { dispatcher: Dispatcher; clock: Clock };

/** The time limit covers name look-up, connection, request and the whole answer. */
async function exchange(request: PeerRequest, route: Exchange): Promise<PeerResponse> {
  const over = linkedAbort(request.signal);
  const timer = route.clock.timer(request.timeoutMs, over.abort);
  try {
    const answer = await send(route.dialled, {
      method: request.method,
      headers: { 'accept-encoding': 'identity', ...request.headers, host: route.host },
      body: request.body ?? null,
      dispatcher: route.dispatcher,
      signal: over.signal,
      headersTimeout: request.timeoutMs,
      bodyTimeout: request.timeoutMs,
    });
    return await readAnswer(answer, route.host, request.maxBytes);
  } catch (error) {
    throw faultOf(error, { host: route.host, late: over.signal.aborted, aborted: request.signal?.aborted === true });
  } finally {
    timer.cancel();
    over.release();
  }
}

async function readAnswer(answer: Dispatcher.ResponseData, host: string, maxBytes: number): Promise<PeerResponse> {
  const headers = flatten(answer.headers);
  const refusal = refuseAnswer(answer.statusCode, headers, { host, maxBytes });
  if (refusal) {
    answer.body.on('error', () => undefined).destroy();
    throw refusal;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    if (!(chunk instanceof Uint8Array)) continue;
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(host, maxBytes);
    chunks.push(chunk);
  }
  return { status: answer.statusCode, headers, body: new Uint8Array(Buffer.concat(chunks)) };
}

function refuseAnswer(
  status: number,
  headers: Record<string, string>,
  { host, maxBytes }: { host: string; maxBytes: number },
): PeerError | undefined {
  if (status >= 300 && status < 400 && status !== 304) {
    return new PeerError('redirected', `${host} answered with a redirect, which is never followed`, {
      retryable: false,
      status,
    });
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    return new PeerError('answer_encoded', `${host} answered with content encoding ${encoding}`, {
      retryable: false,
      status,
    });
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) return tooLarge(host, maxBytes);
  return undefined;
}

function tooLarge(host: string, maxBytes: number): PeerError {
  return new PeerError('answer_too_large', `${host} answered with more than ${maxBytes} bytes`, { retryable: false });
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function faultOf(error: unknown, state: { host: string; late: boolean; aborted: boolean }): PeerError {
  const { host } = state;
  if (error instanceof PeerError) return error;
  if (error instanceof AddressBlocked)
    return new PeerError('address_blocked', error.message, { retryable: false, cause: error });
  if (state.aborted)
    return new PeerError('aborted', `the request to ${host} was called off`, { retryable: true, cause: error });
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  if (state.late || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new PeerError('timed_out', `${host} did not answer in time`, { retryable: true, cause: error });
  }
  const detail = error instanceof Error ? error.message : String(error);
  return new PeerError('unreachable', `${host} cannot be reached: ${detail}`, { retryable: true, cause: error });
}

function guardedConnector(lookup: LookupAll | undefined): buildConnector.connector {
  const connect = buildConnector({ timeout: connectMs, lookup: guardedLookup(lookup) });
  return (target, callback) => {
    try {
      refuseBlockedLiteral(target.hostname);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
      return;
    }
    connect(target, callback);
  };
}
