/** The runs that this process drives, and the agents that it has for them: what leases are kept for, and what ends first. */
import type { Clock } from '../../platform/index.js';
import type { Fence } from '../ports.js';
import { type PlacedAgent, placedAgents } from './placed-agents.js';

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
  /** Takes a place before a run is claimed: undefined when there is none, or its agent is given away just now. */
  reserve(home: string): Reservation | undefined;
  /** Every agent that was placed here and has not been forgotten. */
  placed(): PlacedAgent[];
  /** Which of the agents here others ask for. */
  noteAsked(homes: ReadonlySet<string>): void;
  isAsked(home: string): boolean;
  /** True when the agent is idle: none of its runs is taken until it is opened or forgotten. */
  shut(home: string): boolean;
  open(home: string): void;
  /** Its placement is no longer here. */
  forget(home: string): void;
  /** No run is taken any more. */
  close(): void;
  /** Resolves when nothing is claimed or driven. */
  idle(): Promise<void>;
}

export interface Reservation {
  /** Keeps a run in the list until its driving has ended, which is when the answer resolves. */
  drive(run: LiveRun, driving: Promise<void>): Promise<void>;
  /** Gives the place back if nothing is driven in it. */
  release(): void;
}

export interface CreateLiveRuns {
  clock: Pick<Clock, 'monotonicMs'>;
  limit?: number;
}

export function createLiveRuns({ clock, limit = 32 }: CreateLiveRuns): LiveRuns {
  const driven = new Set<LiveRun>();
  /** One for each place that is taken; resolved when it is free again. */
  const taken = new Set<Promise<void>>();
  const agents = placedAgents(clock);
  let asked: ReadonlySet<string> = new Set();
  let open = true;

  function reserve(home: string): Reservation | undefined {
    if (!open || taken.size >= limit || !agents.enter(home)) return undefined;
    const leave = takePlace(taken, () => agents.leave(home));
    let drives = false;
    return {
      async drive(run, driving) {
        drives = true;
        agents.place(home);
        driven.add(run);
        try {
          await driving;
        } finally {
          driven.delete(run);
          leave();
        }
      },
      release() {
        if (!drives) leave();
      },
    };
  }

  return {
    free: () => (open ? limit - taken.size : 0),
    list: () => [...driven],
    reserve,
    placed: agents.list,
    noteAsked(homes) {
      asked = homes;
    },
    isAsked: (home) => asked.has(home),
    shut: agents.shut,
    open: agents.open,
    forget: agents.forget,
    close() {
      open = false;
    },
    async idle() {
      while (taken.size > 0) await Promise.all(taken);
    },
  };
}

/** Answers what gives the place back. */
function takePlace(taken: Set<Promise<void>>, onLeave: () => void): () => void {
  let left: () => void = () => undefined;
  const place = new Promise<void>((resolve) => {
    left = resolve;
  });
  taken.add(place);
  return () => {
    taken.delete(place);
    onLeave();
    left();
  };
}
