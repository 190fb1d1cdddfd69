/**
 * The runs that this process drives, and the agents that it has for them: what leases are kept for, and what has to end
 * before the process does. An agent is *used* while one of its runs is claimed or driven here, then *idle*; an idle one may
 * be *shut*: given away, with no run of it taken meanwhile.
 */
import type { Clock } from '../../platform/index.js';
import type { Fence } from '../ports.js';

/** `released`: given back to be driven elsewhere. `lost`: somebody else has it. `time_limit`: it took too long. */
export type StopReason = 'released' | 'lost' | 'time_limit';

export interface LiveRun {
  home: string;
  runId: string;
  fence: Fence;
  stop(reason: StopReason): void;
}

export interface PlacedAgent {
  home: string;
  /** How long none of its runs was here; undefined while one is. */
  idleMs: number | undefined;
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

interface Agent {
  used: number;
  /** Its placement has been confirmed for this host. */
  placed: boolean;
  idleSinceMs: number;
  shut: boolean;
}

export interface CreateLiveRuns {
  clock: Pick<Clock, 'monotonicMs'>;
  limit?: number;
}

export function createLiveRuns({ clock, limit = 32 }: CreateLiveRuns): LiveRuns {
  const driven = new Set<LiveRun>();
  const busy = new Set<Promise<void>>();
  const agents = new Map<string, Agent>();
  let asked: ReadonlySet<string> = new Set();
  let open = true;

  /** Holds a place of `home` until `leave`. */
  function enter(agent: Agent): { leave(): void } {
    agent.used += 1;
    let left: () => void = () => undefined;
    const leaving = new Promise<void>((resolve) => {
      left = resolve;
    });
    busy.add(leaving);
    return {
      leave() {
        if (!busy.delete(leaving)) return;
        agent.used -= 1;
        agent.idleSinceMs = clock.monotonicMs();
        left();
      },
    };
  }

  return {
    free: () => (open ? limit - busy.size : 0),
    list: () => [...driven],
    reserve(home) {
      const agent = agents.get(home) ?? { used: 0, placed: false, idleSinceMs: 0, shut: false };
      if (!open || busy.size >= limit || agent.shut) return undefined;
      agents.set(home, agent);
      const place = enter(agent);
      let taken = false;
      return {
        async drive(run, driving) {
          taken = true;
          agent.placed = true;
          driven.add(run);
          try {
            await driving;
          } finally {
            driven.delete(run);
            place.leave();
          }
        },
        release() {
          if (taken) return;
          place.leave();
          if (agent.used === 0 && !agent.placed) agents.delete(home);
        },
      };
    },
    placed: () =>
      [...agents]
        .filter(([, { placed }]) => placed)
        .map(([home, { used, idleSinceMs }]) => ({
          home,
          idleMs: used > 0 ? undefined : clock.monotonicMs() - idleSinceMs,
        })),
    noteAsked(homes) {
      asked = homes;
    },
    isAsked: (home) => asked.has(home),
    shut(home) {
      const agent = agents.get(home);
      if (!agent || agent.used > 0) return false;
      agent.shut = true;
      return true;
    },
    open(home) {
      const agent = agents.get(home);
      if (agent) agent.shut = false;
    },
    forget(home) {
      if ((agents.get(home)?.used ?? 0) === 0) agents.delete(home);
    },
    close() {
      open = false;
    },
    async idle() {
      while (busy.size > 0) await Promise.all(busy);
    },
  };
}
