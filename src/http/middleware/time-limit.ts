/**
 * How long an answer may take: then the caller is told to come back, and is not kept waiting for one that may never come.
 * The work itself ends by the limits of its transactions; it counts as in work until then, so a drain still waits for it.
 */
import type { Middleware } from 'koa';
import type { Clock } from '../../platform/index.js';
import { Problem } from '../../protocol/index.js';
import type { DoorState } from '../endpoint.js';

export function timeLimit(clock: Clock, limitMs: number): Middleware<DoorState> {
  return async (_, next) => {
    let cancel = (): void => undefined;
    const passed = new Promise<never>((_, reject) => {
      const timer = clock.timer(limitMs, () =>
        reject(new Problem('unavailable', 'the answer took too long', { extra: { retry_after_s: 1 } })),
      );
      cancel = () => timer.cancel();
    });
    const work = next();
    work.catch(() => undefined);
    try {
      await Promise.race([work, passed]);
    } finally {
      cancel();
    }
  };
}
