/** The runs that this process drives: what leases are kept for, and what has to end before the process does. */
import type { Fence } from '../ports.js';

/** `released`: given back to be driven elsewhere. `lost`: somebody else has it. `time_limit`: it took too long. */
export type StopReason = 'released' | 'lost' | 'time_limit';

export interface LiveRun {
  home: string;
  runId: string;
  fence: Fence;
  stop(reason: StopReason): void;
}

export interface LiveRuns {
  /** How many more may be driven; 0 once closed. */
  free(): number;
  list(): LiveRun[];
  /** Keeps a run in the list until its driving has ended. */
  add(run: LiveRun, driving: Promise<void>): void;
  /** No run is taken any more. */
  close(): void;
  /** Resolves when nothing is driven. */
  idle(): Promise<void>;
}

export function createLiveRuns({ limit = 32 }: { limit?: number } = {}): LiveRuns {
  const driven = new Map<LiveRun, Promise<void>>();
  let open = true;
  return {
    free: () => (open ? limit - driven.size : 0),
    list: () => [...driven.keys()],
    add(run, driving) {
      driven.set(
        run,
        driving.finally(() => driven.delete(run)),
      );
    },
    close() {
      open = false;
    },
    async idle() {
      while (driven.size > 0) await Promise.allSettled(driven.values());
    },
  };
}
