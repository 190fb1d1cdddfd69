/**
 * RFC 9457: the one place that turns errors into answers. What fails on our side, and callers who have proved nothing,
 * get the code and the request id only.
 */
import type { Middleware, ParameterizedContext } from 'koa';
import { isConnectionLost, type Log } from '../../platform/index.js';
import { describeProblem, Problem, type ProblemCode } from '../../protocol/index.js';
import type { DoorState } from '../endpoint.js';

export interface ProblemDetails {
  log: Log;
  /** The scheme that a 401 names in WWW-Authenticate. */
  challenge: 'Bearer' | 'Signature';
}

export function problemDetails({ log, challenge }: ProblemDetails): Middleware<DoorState> {
  return async (ctx, next) => {
    try {
      await next();
      if (ctx.status >= 400 && ctx.body === undefined) throw unanswered(ctx.status);
    } catch (error) {
      const problem = asProblem(error);
      if (problem.code === 'internal') log.error({ err: error, requestId: ctx.state.requestId }, 'request failed');
      writeProblem(ctx, problem, challenge);
    }
  };
}

function unanswered(status: number): Problem {
  return status === 405
    ? new Problem('method_not_allowed', 'the path exists, the method does not')
    : new Problem(status === 501 ? 'not_supported' : 'not_found', 'no such path, or nothing there for this caller');
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isConnectionLost(error)) {
    return new Problem('unavailable', 'the database is not reachable now', {
      cause: error,
      extra: { retry_after_s: 1 },
    });
  }
  return new Problem('internal', 'unexpected', { cause: error });
}

function writeProblem(ctx: ParameterizedContext<DoorState>, problem: Problem, challenge: string): void {
  const { status, title, action } = describeProblem(problem.code);
  const detail = mayLearnDetail(ctx.state, problem.code, status) ? problem.detail : undefined;
  const { extra } = problem;
  const retryAfter = extra?.retry_after_s;
  if (status === 401) ctx.set('WWW-Authenticate', challenge);
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
  // Nothing more is wanted on a connection that is too slow, or when the server stops.
  if (status === 408 || status === 503) ctx.set('Connection', 'close');
  ctx.status = status;
  ctx.body = JSON.stringify({
    type: `urn:hearth:problem:${problem.code}`,
    title,
    status,
    code: problem.code,
    detail,
    action,
    request_id: ctx.state.requestId,
    ...(status < 500 || problem.code !== 'internal' ? extra : undefined),
  });
  ctx.type = 'application/problem+json';
  ctx.set('Cache-Control', 'no-store');
}

function mayLearnDetail(state: DoorState, code: ProblemCode, status: number): boolean {
  return state.verified && code !== 'internal' && (status < 500 || code === 'unavailable');
}
