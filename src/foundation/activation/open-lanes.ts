/**
 * Begins the lanes whose held head is due by the database's clock. `lane_due_at` was written by the commit that left the
 * session idle, so a lane is found by whichever process looks next, however often all of them were gone.
 */
import { mintFrom } from '../new-id.js';
import { type FoundationParts, foundationChannels, type StepOutcome } from '../parts.js';
import { lockSession } from '../session/index.js';
import { dequeueNext } from './lane.js';
import { selectDueLanes } from './lane-store.js';

const batch = 100;

type Opener = Pick<FoundationParts, 'db' | 'clock' | 'random' | 'wakeups'>;

export async function openLanes(opener: Opener): Promise<StepOutcome> {
  const due = await selectDueLanes(opener.db.sql, batch);
  for (const lane of due) {
    const begun = await opener.db.transact('open-lane', async (tx) => {
      const session = await lockSession(tx, lane);
      // Another process, or an input that completed the merge, may have been faster.
      if (session?.state !== 'idle' || session.laneDueAt === null) return undefined;
      return dequeueNext(tx, session, mintFrom(opener));
    });
    if (begun !== undefined) opener.wakeups.wake(foundationChannels.runs);
  }
  return due.length === batch ? 'more' : 'idle';
}
