/**
 * Counts the requests in work: above the limit, and once the server drains, new ones are refused at once. A drain waits for
 * those that were let in, so none is acknowledged and lost. A request whose body is still arriving is not in work yet: slow
 * senders have places of their own, and who has been sending longest makes room for the next (BR-88).
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

export interface InFlightLimits {
  inWork: number;
  /** Of one connection, which may send its next requests before the first is answered. */
  perConnection: number;
  arriving: number;
}

export function inFlight(limits: InFlightLimits): InFlight {
  const arrivals = boundArrivals(limits.arriving);
  const perConnection = new WeakMap<object, number>();
  let count = 0;
  let draining = false;
  let waiting: (() => void)[] = [];

  /** Lets a request in, or throws why not; what it answers lets the request out again, once. */
  function enter(path: string): () => void {
    if (draining && path !== '/healthz') throw new Problem('draining', 'stopping', { extra: { retry_after_s: 5 } });
    if (count >= limits.inWork) throw tooMany();
    count += 1;
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      count -= 1;
      if (count > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    };
  }

  async function oneOfConnection(connection: object, work: () => Promise<void>): Promise<void> {
    const own = perConnection.get(connection) ?? 0;
    if (own >= limits.perConnection) throw tooMany();
    perConnection.set(connection, own + 1);
    try {
      await work();
    } finally {
      perConnection.set(connection, (perConnection.get(connection) ?? 1) - 1);
    }
  }

  return {
    middleware: (ctx, next) =>
      oneOfConnection(ctx.req.socket, async () => {
        let leave = enter(ctx.path);
        ctx.state.arriving = async (read) => {
          leave();
          const body = await arrivals(read);
          leave = enter(ctx.path);
          return body;
        };
        try {
          await next();
        } finally {
          leave();
        }
      }),
    drain() {
      draining = true;
    },
    draining: () => draining,
    settled: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}

function tooMany(): Problem {
  return new Problem('rate_limited', 'too many requests at once', { extra: { retry_after_s: 1 } });
}

function boundArrivals(limit: number): DoorState['arriving'] {
  // In the order in which they began.
  const giveUps = new Set<() => void>();
  return async (read) => {
    const [longest] = giveUps;
    if (giveUps.size >= limit) longest?.();
    let giveUp: () => void = () => undefined;
    const givenUp = new Promise<never>((_, reject) => {
      giveUp = () => {
        giveUps.delete(giveUp);
        reject(new Problem('too_slow', 'others were waiting for this place', { extra: { retry_after_s: 1 } }));
      };
    });
    giveUps.add(giveUp);
    try {
      return await Promise.race([read, givenUp]);
    } finally {
      giveUps.delete(giveUp);
    }
  };
}
