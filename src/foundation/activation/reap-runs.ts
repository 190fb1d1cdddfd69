/** Ends runs whose lease has run out by the database's clock, whoever held them, and lets their input be tried again. */
import { mintFrom } from '../new-id.js';
import { type FoundationParts, foundationChannels, type StepOutcome } from '../parts.js';
import { lockExpiredRun, selectExpiredRuns } from '../run/index.js';
import { runChannel } from '../run-event/index.js';
import { lockSession } from '../session/index.js';
import { requeueRun } from './requeue-run.js';

const batch = 50;

type Reaper = Pick<FoundationParts, 'db' | 'clock' | 'random' | 'wakeups'>;

export async function reapRuns(reaper: Reaper): Promise<StepOutcome> {
  const expired = await selectExpiredRuns(reaper.db.sql, batch);
  for (const place of expired) {
    await reaper.db.transact('reap-run', async (tx) => {
      const session = await lockSession(tx, { home: place.home, id: place.sessionId });
      const run = session && (await lockExpiredRun(tx, place));
      if (run) await requeueRun(tx, { session, run, reason: 'lease_expired', mint: mintFrom(reaper) });
    });
    reaper.wakeups.wake(runChannel(place.id));
    reaper.wakeups.wake(foundationChannels.runs);
  }
  return expired.length === batch ? 'more' : 'idle';
}
