/** Where chaos strikes: a seeded choice of who is killed, at which port, at which of its calls, and when within it. */
import type { Random } from '../../platform/index.js';

const victims = ['alpha.test', 'beta.test'] as const;
export type Victim = (typeof victims)[number];

/** The ports at which a domain can be struck: a database transaction, a signature, a request to a peer, one from it. */
const strikePorts = ['commit', 'sign', 'send', 'receive'] as const;
export type StrikePort = (typeof strikePorts)[number];

const strikePhases = ['before', 'inside', 'after'] as const;
export type StrikePhase = (typeof strikePhases)[number];

export interface Strike {
  victim: Victim;
  kill: 'node' | 'postmaster';
  port: StrikePort;
  phase: StrikePhase;
  /** Which call of the port in the round, from 1. */
  occurrence: number;
}

/** How often each port of each domain is called in a round without a strike. */
export type PortCounts = Record<Victim, Record<StrikePort, number>>;

/**
 * Plans one round. An occurrence stays within four fifths of the calls a calm round makes, so that it is reached; a port
 * that a calm round never uses is not chosen.
 */
export function planStrike(random: Random, calm: PortCounts): Strike {
  const victim = pick(random, victims);
  const port = pick(
    random,
    strikePorts.filter((candidate) => calm[victim][candidate] > 0),
  );
  const calls = Math.max(1, Math.floor(calm[victim][port] * 0.8));
  return {
    victim,
    kill: pick(random, ['node', 'postmaster'] as const),
    port,
    phase: pick(random, strikePhases),
    occurrence: 1 + Math.min(calls - 1, Math.floor(random.uniform(0, calls))),
  };
}

export function describeStrike(strike: Strike): string {
  return `SIGKILL of ${strike.victim}'s ${strike.kill}, ${strike.phase} ${strike.port} number ${strike.occurrence}`;
}

function pick<T>(random: Random, from: readonly T[]): T {
  const chosen = from[Math.min(from.length - 1, Math.floor(random.uniform(0, from.length)))];
  if (chosen === undefined) throw new Error('nothing to choose from');
  return chosen;
}
