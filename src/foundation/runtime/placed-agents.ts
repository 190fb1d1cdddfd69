/**
 * The agents whose placement this process has. One is *used* while a run of it is claimed or driven here, then *idle*; an
 * idle one may be *shut*: given away, with no run of it taken meanwhile. Who was never placed is forgotten when it is left.
 */
import type { Clock } from '../../platform/index.js';

export interface PlacedAgent {
  home: string;
  /** How long none of its runs was here; undefined while one is. */
  idleMs: number | undefined;
}

interface Agent {
  used: number;
  placed: boolean;
  idleSinceMs: number;
  shut: boolean;
}

export function placedAgents(clock: Pick<Clock, 'monotonicMs'>) {
  const agents = new Map<string, Agent>();
  return {
    /** False while it is shut. */
    enter(home: string): boolean {
      const agent = agents.get(home) ?? { used: 0, placed: false, idleSinceMs: 0, shut: false };
      if (agent.shut) return false;
      agent.used += 1;
      agents.set(home, agent);
      return true;
    },
    leave(home: string): void {
      const agent = agents.get(home);
      if (!agent) return;
      agent.used -= 1;
      agent.idleSinceMs = clock.monotonicMs();
      if (agent.used === 0 && !agent.placed) agents.delete(home);
    },
    place(home: string): void {
      const agent = agents.get(home);
      if (agent) agent.placed = true;
    },
    list: (): PlacedAgent[] =>
      [...agents].flatMap(([home, { used, placed, idleSinceMs }]) =>
        placed ? [{ home, idleMs: used > 0 ? undefined : clock.monotonicMs() - idleSinceMs }] : [],
      ),
    shut(home: string): boolean {
      const agent = agents.get(home);
      if (!agent || agent.used > 0) return false;
      agent.shut = true;
      return true;
    },
    open(home: string): void {
      const agent = agents.get(home);
      if (agent) agent.shut = false;
    },
    forget(home: string): void {
      if (agents.get(home)?.used === 0) agents.delete(home);
    },
  };
}
