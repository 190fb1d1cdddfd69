/**
 * Counts the requests in work: above the limit, and once the server drains, new ones are refused at once. A drain waits for
 * those that were let in, so none is acknowledged and lost.
 */
import type { Middleware } from 'koa';
import { Problem } from '../../protocol/index.js';
import type { DoorState } from '../endpoint.js';

export interface InFlight {
  middleware: Middleware<DoorState>;
  /** From now on new requests get 503 `draining`. */
  drain(): void;
  draining(): boolean;
  /** Resolves when no request is in work. */
  settled(): Promise<void>;
}

export function inFlight(limit: number): InFlight {
  let count = 0;
  let draining = false;
  let waiting: (() => void)[] = [];

  function leave(): void {
    count -= 1;
    if (count > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  return {
    middleware: async (ctx, next) => {
      if (draining && ctx.path !== '/healthz')
        throw new Problem('draining', 'stopping', { extra: { retry_after_s: 5 } });
      if (count >= limit)
        throw new Problem('rate_limited', 'too many requests at once', { extra: { retry_after_s: 1 } });
      count += 1;
      try {
        await next();
      } finally {
        leave();
      }
    },
    drain() {
      draining = true;
    },
    draining: () => draining,
    settled: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
