/**
 * The action `http.post`: sends a proposal's input as JSON to the URL it targets, with its idempotency key.
 *
 * What a target has to do for an outcome to be found after a crash: take the key from the `Idempotency-Key` header and do
 * each key once; answer `GET {target}?idempotency_key={key}` with 200 for a key it has done and 404 for one it has not, and
 * name the key in that answer, as `Idempotency-Key` header or as JSON member `idempotency_key`. An answer that does not
 * name the key comes from a target that knows nothing of keys; what it did stays unknown, and nothing is sent twice.
 */
import type { DispatchingEffectAdapter, EffectOutcome, EffectRecord } from '../../foundation/index.js';
import { PeerError, type PeerFault, type PeerHttp, type PeerResponse } from '../../platform/index.js';
import {
  canonicalize,
  fromUtf8,
  type JsonValue,
  LIMITS,
  Problem,
  parseStrictJson,
  toUtf8,
} from '../../protocol/index.js';

export const httpPostAction = 'http.post';

export interface HttpEffectOptions {
  http: PeerHttp;
  /** The origins that may be called, as the operator listed them. */
  origins: readonly string[];
  timeoutMs?: number;
}

// Room for the record, which also bounds what is kept of an answer.
const answerBytes = LIMITS.inlineBodyBytes;
const defaultTimeoutMs = 10_000;

export function createHttpEffectAdapter(options: HttpEffectOptions): DispatchingEffectAdapter {
  const { http, timeoutMs = defaultTimeoutMs } = options;
  const origins = new Set(options.origins.map((origin) => new URL(origin).origin));

  return {
    kind: 'dispatching',
    timeoutMs,
    check(proposal) {
      const refused = refuseTarget(proposal.target, origins);
      return refused === undefined ? { ok: true } : { ok: false, reason: refused };
    },
    async dispatch(effect, signal) {
      // The list may have been changed since the intent was written.
      const refused = refuseTarget(effect.target, origins);
      if (refused !== undefined) return { status: 'failed', reason: refused };
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json',
        'idempotency-key': effect.idempotencyKey,
      };
      const body = toUtf8(canonicalize(effect.request));
      const request = {
        method: 'POST',
        url: effect.target,
        headers,
        body,
        maxBytes: answerBytes,
        timeoutMs,
        signal,
      } as const;
      try {
        return outcomeOf(await http.request(request), effect);
      } catch (error) {
        return faultOutcome(error);
      }
    },
    async query(effect, signal) {
      if (refuseTarget(effect.target, origins) !== undefined)
        return { status: 'unknown', reason: 'origin_not_allowed' };
      const url = new URL(effect.target);
      url.searchParams.append('idempotency_key', effect.idempotencyKey);
      const headers = { accept: 'application/json' };
      const request = { method: 'GET', url: url.href, headers, maxBytes: answerBytes, timeoutMs, signal } as const;
      try {
        return foundOutcome(await http.request(request), effect);
      } catch (error) {
        if (error instanceof PeerError) return { status: 'unknown', reason: `query_${error.reason}` };
        throw error;
      }
    },
  };
}

function refuseTarget(target: string, origins: ReadonlySet<string>): string | undefined {
  if (!URL.canParse(target)) return 'target_not_a_url';
  const url = new URL(target);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'target_not_http';
  if (url.username !== '' || url.password !== '') return 'target_with_credentials';
  return origins.has(url.origin) ? undefined : 'origin_not_allowed';
}

function outcomeOf(answer: PeerResponse, effect: EffectRecord): EffectOutcome {
  const { status } = answer;
  if (status >= 200 && status < 300) return { status: 'succeeded', result: bodyOf(answer) };
  if (status < 400 || status >= 500 || mayBeInWork(status, effect))
    return { status: 'unknown', reason: `http_${status}` };
  return { status: 'failed', reason: `http_${status}`, result: bodyOf(answer) };
}

/** The 4xx answers that do not mean "not done": a request cut while it was read, and a repeat that meets the first at work. */
function mayBeInWork(status: number, effect: EffectRecord): boolean {
  return status === 408 || (status === 409 && effect.attempt > 1);
}

// Of these it is certain that no byte of the request was sent.
const neverSent: readonly PeerFault[] = ['bad_url', 'not_https', 'address_blocked'];

/** BR-46: a time-out, a cut or an answer that cannot be read leaves open what the target did. */
function faultOutcome(error: unknown): EffectOutcome {
  if (!(error instanceof PeerError)) throw error;
  if (neverSent.includes(error.reason)) return { status: 'failed', reason: error.reason };
  return { status: 'unknown', reason: error.reason };
}

function foundOutcome(answer: PeerResponse, effect: EffectRecord): EffectOutcome | { status: 'not_found' } {
  const body = bodyOf(answer);
  if (!namesKey(answer, body, effect.idempotencyKey)) return { status: 'unknown', reason: 'target_knows_no_keys' };
  if (answer.status === 200) return { status: 'succeeded', result: body };
  if (answer.status === 404) return { status: 'not_found' };
  return { status: 'unknown', reason: `query_http_${answer.status}` };
}

function namesKey(answer: PeerResponse, body: JsonValue, key: string): boolean {
  if (answer.headers['idempotency-key'] === key) return true;
  return typeof body === 'object' && body !== null && !Array.isArray(body) && body.idempotency_key === key;
}

/** The result of an effect is the body of its answer: JSON if it is strict JSON, else text if it is text, else nothing. */
function bodyOf({ body }: PeerResponse): JsonValue {
  if (body.length === 0) return null;
  try {
    return parseStrictJson(body, { maxBytes: answerBytes });
  } catch (error) {
    if (error instanceof Problem) return fromUtf8(body)?.replaceAll('\0', '') ?? null;
    throw error;
  }
}
