// One loop of clockwork: step while there is more, wait when idle, back off when something is broken, stop at the signal.
import type { Clock } from './clock.js';
import { isConnectionLost } from './database-error.js';
import type { Log } from './log.js';
import type { Wakeups } from './notify.js';
import type { Random } from './random.js';

export interface RunWorker {
  name: string;
  clock: Clock;
  wakeups: Wakeups;
  channel: string;
  /** How long an idle worker waits before it looks again by itself; asked after each idle step. */
  idleMs: number | (() => number);
  step: (signal: AbortSignal) => Promise<'more' | 'idle'>;
  log: Log;
  signal: AbortSignal;
  random?: Random;
}

const firstBackoffMs = 100;
const longestBackoffMs = 2_000;

/** Resolves once the signal has aborted and the step in work has ended. Never rejects: a fault is logged and tried again. */
export async function runWorker(options: RunWorker): Promise<void> {
  const { wakeups, clock, signal, step, log, name } = options;
  const watch = wakeups.watch(options.channel);
  const health = workerHealth(log, name);
  while (!signal.aborted) {
    try {
      const outcome = await step(signal);
      health.well();
      if (outcome === 'idle') await watch.wait(idleMsOf(options), signal);
    } catch (error) {
      if (signal.aborted) break;
      const failures = health.ill(error);
      await clock.sleep(backoffMs(failures, options.random), signal);
    }
  }
  watch.close();
}

function idleMsOf({ idleMs }: RunWorker): number {
  return typeof idleMs === 'number' ? idleMs : idleMs();
}

function backoffMs(failures: number, random: Random | undefined): number {
  const base = Math.min(firstBackoffMs * 2 ** (failures - 1), longestBackoffMs);
  return base * (random?.uniform(0.8, 1.2) ?? 1);
}

/** Says each change once: that it broke, that it broke differently, that it works again. */
function workerHealth(log: Log, worker: string) {
  let failures = 0;
  let lastFault = '';
  return {
    well(): void {
      if (failures > 0) log.info({ worker, failures }, 'worker works again');
      failures = 0;
      lastFault = '';
    },
    ill(error: unknown): number {
      failures += 1;
      const lost = isConnectionLost(error);
      const fault = lost ? 'database unreachable' : String(error);
      if (fault !== lastFault) {
        if (lost) log.warn({ worker, err: error }, 'worker waits for the database');
        else log.error({ worker, err: error }, 'worker step failed; it will be tried again');
      }
      lastFault = fault;
      return failures;
    },
  };
}
