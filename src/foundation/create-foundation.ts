/** A Foundation from the parts that its embedder supplies: what the journeys, the loops and the doors work with. */
import type { FoundationParts } from './parts.js';
import { createLiveRuns } from './runtime/index.js';

export interface CreateFoundation extends Omit<FoundationParts, 'live'> {
  /** Runs driven beside each other in this process. */
  runLimit?: number;
}

export function createFoundation({ runLimit, ...parts }: CreateFoundation): FoundationParts {
  return { ...parts, live: createLiveRuns(runLimit === undefined ? {} : { limit: runLimit }) };
}
