/**
 * Records what a run has come to although the database goes away for a moment, or asks for the transaction to be run again:
 * what is known here alone would be lost with it, and the whole run be done again. A commit whose answer was lost may have
 * happened all the same, so the record is looked at before it is tried again.
 */
import { isConnectionLost, isRetryableConflict } from '../../platform/index.js';
import type { FoundationParts } from '../parts.js';

// As long as the lease may last; after it somebody else has the run.
const pausesMs = [50, 100, 250, 500, 1_000, 1_500, 2_500];

export interface Surely<T> {
  runId: string;
  attempt(): Promise<T>;
  /** What the attempt came to, if it happened after all; not given where trying again changes nothing. */
  found?(): Promise<T | undefined>;
}

export async function surely<T>(
  { clock, log }: Pick<FoundationParts, 'clock' | 'log'>,
  { runId, attempt, found }: Surely<T>,
): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPassing(error)) throw error;
      log.warn({ err: error, runId }, 'what a run has come to could not be recorded; it is tried again');
    }
    await clock.sleep(pauseMs);
    const done = await found?.().catch((error: unknown) => {
      if (!isPassing(error)) throw error;
      log.debug({ runId }, 'the database is still away');
      return undefined;
    });
    if (done !== undefined) return done;
  }
  return attempt();
}

function isPassing(error: unknown): boolean {
  return isConnectionLost(error) || isRetryableConflict(error);
}
