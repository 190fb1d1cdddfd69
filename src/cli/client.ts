// Speaks to the private door of a running domain and turns everything that can go wrong on the way into one sentence.
import { z } from 'zod';
import { CliFailure } from './failure.js';
import { parseJson, readInput } from './json.js';
import type { CommonOptions, World } from './world.js';

interface Call {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Client {
  readonly url: string;
  /** One request and its answer; never repeated, because only the caller knows whether that is safe. */
  call<Answer>(shape: z.ZodType<Answer>, call: Call): Promise<Answer>;
  /** One request whose answer is read as it comes. */
  open(call: Call, signal: AbortSignal): Promise<Response>;
}

export const DEFAULT_URL = 'http://127.0.0.1:7421';
const ANSWER_TIMEOUT_MS = 30_000;
const TOKEN = /^[\x21-\x7e]{1,512}$/;

const problemShape = z.looseObject({
  code: z.string(),
  title: z.string(),
  detail: z.string().optional(),
  action: z.string().optional(),
  request_id: z.string().optional(),
  reason: z.string().optional(),
});

/** Reads where to call and as whom; nothing is sent yet. */
export async function connect(world: World, options: CommonOptions): Promise<Client> {
  const url = readUrl(options.url ?? world.env.HEARTH_URL ?? DEFAULT_URL);
  const token = await readToken(world, options.tokenFile);
  const send = (call: Call, signal: AbortSignal) => request({ url, token, call, signal });
  return {
    url,
    async call(shape, call) {
      const response = await send(call, AbortSignal.timeout(ANSWER_TIMEOUT_MS));
      return readAnswer(response, shape, url);
    },
    open: send,
  };
}

/** Joins path segments, each encoded, so that no name can reach another endpoint. */
export function pathOf(...segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username === '' &&
    url.search === '' &&
    url.hash === ''
  ) {
    return url.href.replace(/\/+$/, '');
  }
  throw new CliFailure('usage', {
    said: `"${text}" is not the URL of a domain's private door.`,
    advice: `Give one like ${DEFAULT_URL} with --url or HEARTH_URL.`,
  });
}

async function readToken(world: World, tokenFile: string | undefined): Promise<string> {
  const token = (tokenFile === undefined ? world.env.HEARTH_TOKEN : await readInput(tokenFile))?.trim() ?? '';
  const advice = 'Put the token that `hearth start` printed once into HEARTH_TOKEN, or its file into --token-file.';
  if (token === '') throw new CliFailure('usage', { said: 'There is no token to call with.', advice });
  if (!TOKEN.test(token))
    throw new CliFailure('usage', { said: 'The token is not one line of plain characters.', advice });
  return token;
}

type Request = { readonly url: string; readonly token: string; readonly call: Call; readonly signal: AbortSignal };

async function request({ url, token, call, signal }: Request): Promise<Response> {
  const headers: Record<string, string> = {
    accept: 'application/json',
    ...call.headers,
    authorization: `Bearer ${token}`,
  };
  if (call.body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(`${url}${call.path}${queryOf(call.query)}`, {
    method: call.method ?? 'GET',
    headers,
    signal,
    // A redirect would carry the token to where nobody sent it.
    redirect: 'manual',
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  }).catch((cause: unknown) => {
    throw unreachable(url, cause);
  });
  if (!response.ok) throw await refused(response, url);
  return response;
}

function queryOf(query: Call['query'] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
}

async function readAnswer<Answer>(response: Response, shape: z.ZodType<Answer>, url: string): Promise<Answer> {
  const text = await response.text().catch((cause: unknown) => {
    throw unreachable(url, cause);
  });
  const answer = shape.safeParse(text === '' ? null : parseJson(text));
  if (answer.success) return answer.data;
  throw new CliFailure('refused', {
    said: `${url} answers, but not as a Hearth of this version does.`,
    advice: 'Check that the URL is that of the private door, and that `hearth` and the domain are of one version.',
    requestId: requestIdOf(response),
    cause: answer.error,
  });
}

async function refused(response: Response, url: string): Promise<CliFailure> {
  const text = await response.text().catch(() => '');
  const problem = problemShape.safeParse(parseJson(text));
  const requestId = problem.data?.request_id ?? requestIdOf(response);
  if (!problem.success) {
    const said = `${url} answered with status ${response.status} and no reason.`;
    return new CliFailure('refused', { said, advice: 'Check that the URL is that of the private door.', requestId });
  }
  const { code, title, detail, action, reason } = problem.data;
  const said = `${title}${detail === undefined ? '' : `: ${detail}`} (${code}).`;
  const retryable = response.status === 429 || response.status === 503;
  return new CliFailure('refused', { said, advice: adviceFor(response, action), requestId, retryable, reason });
}

function adviceFor(response: Response, action: string | undefined): string | undefined {
  if (response.status === 401)
    return 'Check the token: HEARTH_TOKEN or --token-file; it may be revoked or of another domain.';
  const wait = response.headers.get('retry-after');
  return wait !== null && /^[0-9]{1,6}$/.test(wait) ? `Try again in ${wait} s.` : action;
}

function unreachable(url: string, cause: unknown): CliFailure {
  const late = cause instanceof Error && cause.name === 'TimeoutError';
  return new CliFailure('unreachable', {
    said: late
      ? `${url} did not answer within ${ANSWER_TIMEOUT_MS / 1000} s.`
      : `Nothing answers at ${url} (${codeOf(cause)}).`,
    advice: 'Is the domain running? Start it with `hearth start`, or name its private door with --url or HEARTH_URL.',
    cause,
  });
}

function requestIdOf(response: Response): string | undefined {
  return response.headers.get('x-request-id') ?? undefined;
}

/** The system's short code, else its words; fetch hides them one level down. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string') return code;
  return error.cause instanceof Error ? codeOf(error.cause) : error.message;
}
