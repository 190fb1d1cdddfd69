/**
 * Settles a run although the database goes away for a moment: what it came to is known here alone, and without it the whole
 * run would be done again. A commit whose answer was lost is found done, and counts.
 */
import { isConnectionLost, isRetryableConflict } from '../../platform/index.js';
import type { FoundationParts } from '../parts.js';
import { type ClaimedRun, selectRun } from '../run/index.js';
import type { RunEnding } from '../runtime/index.js';
import type { Settled } from './settle-run.js';

// As long as the lease may last; after it somebody else has the run.
const pausesMs = [50, 100, 250, 500, 1_000, 1_500, 2_500];

type Settler = Pick<FoundationParts, 'db' | 'clock' | 'log' | 'settles'>;

export async function settleSurely(settler: Settler, run: ClaimedRun, ending: RunEnding): Promise<Settled> {
  for (const pauseMs of pausesMs) {
    try {
      return await settler.settles(run, ending);
    } catch (error) {
      if (!isConnectionLost(error) && !isRetryableConflict(error)) throw error;
      settler.log.warn({ err: error, runId: run.id }, 'a run could not be settled; it is tried again');
    }
    await settler.clock.sleep(pauseMs);
    if (await hasEndedSo(settler, run, ending)) return { settled: true };
  }
  return settler.settles(run, ending);
}

async function hasEndedSo({ db, log }: Settler, { home, id }: ClaimedRun, ending: RunEnding): Promise<boolean> {
  try {
    const seen = await selectRun(db.sql, home, id);
    return seen !== undefined && `run.${seen.status}` === ending.type;
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
    log.debug({ runId: id }, 'the database is still away');
    return false;
  }
}
