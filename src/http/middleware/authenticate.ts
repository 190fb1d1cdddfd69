// The private door: all but the health check and its own description needs a bearer token, whether or not the path exists.
import type { Middleware } from 'koa';
import type { AuthenticatedCaller } from '../../home/index.js';
import { Problem } from '../../protocol/index.js';
import { callerOf, type DoorContext, type DoorState } from '../endpoint.js';

export type AuthenticateToken = (token: string) => Promise<AuthenticatedCaller | undefined>;

const open: ReadonlySet<string> = new Set(['/healthz', '/openapi.json', '/docs']);
const bearer = /^Bearer ([A-Za-z0-9_-]{1,256})$/i;

export function authenticate(authenticateToken: AuthenticateToken): Middleware<DoorState> {
  return async (ctx, next) => {
    if (!open.has(ctx.path)) {
      const token = bearer.exec(ctx.get('Authorization'))?.[1];
      const caller = token === undefined ? undefined : await authenticateToken(token);
      if (!caller) throw new Problem('unauthorized', 'a valid bearer token is needed');
      ctx.state.caller = caller;
      ctx.state.verified = true;
      ctx.set('Cache-Control', 'no-store');
    }
    await next();
  };
}

export function requireOperator(ctx: DoorContext): AuthenticatedCaller {
  const caller = callerOf(ctx);
  if (caller.kind !== 'operator') throw new Problem('forbidden', 'this needs an operator credential');
  return caller;
}

/** A person or an operator: somebody who can own agents and send messages as themselves. */
export function requirePerson(ctx: DoorContext): AuthenticatedCaller {
  const caller = callerOf(ctx);
  if (caller.kind === 'producer') throw new Problem('forbidden', 'this needs the credential of a person');
  return caller;
}
