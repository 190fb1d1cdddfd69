// One line a request, by ids only: the route's pattern instead of the path, no query, no header, no body.
import type { Middleware } from 'koa';
import type { Clock, Log } from '../../platform/index.js';
import type { DoorState } from '../endpoint.js';

export function accessLog(log: Log, clock: Clock): Middleware<DoorState> {
  return async (ctx, next) => {
    const started = clock.monotonicMs();
    await next();
    // Who watches health asks often; those lines would hide the others.
    const level = ctx.path === '/healthz' ? 'debug' : 'info';
    log[level](
      {
        requestId: ctx.state.requestId,
        method: ctx.method,
        route: routeOf(ctx),
        status: ctx.status,
        ms: Math.round(clock.monotonicMs() - started),
        credentialId: ctx.state.caller?.credentialId,
      },
      'request',
    );
  };
}

function routeOf(ctx: object): string {
  const route: unknown = Reflect.get(ctx, '_matchedRoute');
  return typeof route === 'string' ? route : 'none';
}
