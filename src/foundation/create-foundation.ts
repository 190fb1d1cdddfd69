/** A Foundation from the parts that its embedder supplies: what the journeys, the loops and the doors work with. */
import { shareSettles } from './activation/index.js';
import { shareCommits } from './effect/index.js';
import type { FoundationParts } from './parts.js';
import { leaseClock } from './placement/index.js';
import { createLiveRuns } from './runtime/index.js';

export interface CreateFoundation extends Omit<FoundationParts, 'live' | 'commits' | 'settles' | 'leaseClock'> {
  /** Runs driven beside each other in this process. */
  runLimit?: number;
}

export function createFoundation({ runLimit, ...parts }: CreateFoundation): FoundationParts {
  return {
    ...parts,
    commits: shareCommits(parts),
    settles: shareSettles(parts),
    leaseClock: leaseClock(parts),
    live: createLiveRuns({ clock: parts.clock, ...(runLimit === undefined ? {} : { limit: runLimit }) }),
  };
}
