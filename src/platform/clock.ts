// Time as a port. Everything above the platform asks a Clock; only this file reads the machine's clocks and sets timers.
import { performance } from 'node:perf_hooks';

interface Timer {
  cancel(): void;
}

export interface Clock {
  /** The database's time as last followed, moved on by the monotonic clock: a stepping wall clock changes nothing. */
  now(): Date;
  /** Milliseconds that only ever grow; for measuring, never for storing. */
  monotonicMs(): number;
  /** Resolves after `ms`, or as soon as the signal aborts; who waits looks at the signal afterwards. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  timer(ms: number, run: () => void): Timer;
}

export interface FollowingClock extends Clock {
  /** Takes the database's time over. Answers how far, in ms, it lay from what this clock expected. */
  follow(databaseNow: Date): number;
}

// setTimeout fires at once for anything longer than this.
const longestTimerMs = 2 ** 31 - 1;

export function systemClock(): FollowingClock {
  let originMs = Date.now() - performance.now();

  function timer(ms: number, run: () => void): Timer {
    const handle = setTimeout(run, Math.min(Math.max(ms, 0), longestTimerMs));
    return { cancel: () => clearTimeout(handle) };
  }

  return {
    now: () => new Date(originMs + performance.now()),
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) => sleepWith(timer, ms, signal),
    timer,
    follow(databaseNow) {
      const before = originMs + performance.now();
      originMs = databaseNow.getTime() - performance.now();
      return databaseNow.getTime() - before;
    },
  };
}

/** A clock that stands still until a test moves it: `advance` runs what falls due, in order. */
export function dialledClock(start: Date): Clock & { advance(ms: number): void } {
  let elapsedMs = 0;
  const due = new Set<{ at: number; run: () => void }>();

  function timer(ms: number, run: () => void): Timer {
    const entry = { at: elapsedMs + Math.max(ms, 0), run };
    due.add(entry);
    return { cancel: () => due.delete(entry) };
  }

  return {
    now: () => new Date(start.getTime() + elapsedMs),
    monotonicMs: () => elapsedMs,
    sleep: (ms, signal) => sleepWith(timer, ms, signal),
    timer,
    advance(ms) {
      const end = elapsedMs + ms;
      for (;;) {
        const next = [...due].filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        due.delete(next);
        elapsedMs = next.at;
        next.run();
      }
      elapsedMs = end;
    },
  };
}

function sleepWith(timer: Clock['timer'], ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = () => {
      pending.cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const pending = timer(ms, wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}
