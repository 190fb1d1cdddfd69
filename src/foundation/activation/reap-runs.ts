/**
 * Ends runs whose lease has run out in lease time, whoever held them, and lets their input be tried again. Each is
 * a commit of its own: one that cannot be ended is put off for longer each time, and holds up no other.
 */
import { isConnectionLost } from '../../platform/index.js';
import { mintFrom } from '../new-id.js';
import { type FoundationParts, foundationChannels, type StepOutcome } from '../parts.js';
import { lockExpiredRun, postponeReaping, type RunPlace, selectExpiredRuns } from '../run/index.js';
import { runChannel } from '../run-event/index.js';
import { lockSession } from '../session/index.js';
import { requeueRun } from './requeue-run.js';

const batch = 50;
const pauseMs = 5_000;
const longestPauseMs = 5 * 60_000;

type Reaper = Pick<FoundationParts, 'db' | 'clock' | 'random' | 'wakeups' | 'log'>;

export async function reapRuns(reaper: Reaper): Promise<StepOutcome> {
  const expired = await selectExpiredRuns(reaper.db.sql, batch);
  for (const place of expired) {
    try {
      await reap(reaper, place);
    } catch (error) {
      if (isConnectionLost(error)) throw error;
      await putOff(reaper, place, error);
    }
  }
  return expired.length === batch ? 'more' : 'idle';
}

async function reap(reaper: Reaper, place: RunPlace): Promise<void> {
  await reaper.db.transact('reap-run', async (tx) => {
    const session = await lockSession(tx, { home: place.home, id: place.sessionId });
    const run = session && (await lockExpiredRun(tx, place));
    if (run) await requeueRun(tx, { session, run, reason: 'lease_expired', mint: mintFrom(reaper) });
  });
  reaper.wakeups.wake(runChannel(place.id));
  reaper.wakeups.wake(foundationChannels.runs);
}

/** Said once: it fails the same way each time. */
async function putOff({ db, log }: Reaper, place: RunPlace, error: unknown): Promise<void> {
  const faults = await db.transact('postpone-reaping', (tx) =>
    postponeReaping(tx, { ...place, pauseMs, longestPauseMs }),
  );
  if (faults === 1)
    log.error({ err: error, runId: place.id }, 'a run whose lease is over cannot be ended; it is tried again');
}
