// Gives each request an id of ours, sent back in X-Request-Id and written into problems and the access log.
import type { Middleware } from 'koa';
import type { Random } from '../../platform/index.js';
import { toBase64url } from '../../protocol/index.js';
import type { DoorState } from '../endpoint.js';

export function requestId(random: Random): Middleware<DoorState> {
  return async (ctx, next) => {
    ctx.state.requestId = `req_${toBase64url(random.bytes(15))}`;
    ctx.state.verified = false;
    ctx.set('X-Request-Id', ctx.state.requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    await next();
  };
}
