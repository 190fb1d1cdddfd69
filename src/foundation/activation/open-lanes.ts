/**
 * Begins the lanes whose held head is due by the database's clock. `lane_due_at` was written by the commit that left the
 * session idle, so a lane is found by whichever process looks next, however often all of them were gone. One that cannot be
 * begun is tried again after a pause, and holds up no other.
 */
import { isConnectionLost } from '../../platform/index.js';
import { mintFrom } from '../new-id.js';
import { type FoundationParts, foundationChannels, type StepOutcome } from '../parts.js';
import { lockSession } from '../session/index.js';
import { dequeueNext, laneLimits } from './lane.js';
import { postponeLane, selectDueLanes } from './lane-store.js';

const batch = 100;
const pauseMs = 2_000;

type Opener = Pick<FoundationParts, 'db' | 'clock' | 'random' | 'wakeups' | 'log'>;

export async function openLanes(opener: Opener): Promise<StepOutcome> {
  const due = await selectDueLanes(opener.db.sql, { heldMs: laneLimits.mergeWindowMs, limit: batch });
  for (const lane of due) {
    try {
      await openLane(opener, lane);
    } catch (error) {
      if (isConnectionLost(error)) throw error;
      opener.log.error({ err: error, sessionId: lane.id }, 'a lane cannot be begun; it is tried again');
      await opener.db.transact('postpone-lane', (tx) => postponeLane(tx, lane, pauseMs));
    }
  }
  return due.length === batch ? 'more' : 'idle';
}

async function openLane(opener: Opener, lane: { home: string; id: string }): Promise<void> {
  const begun = await opener.db.transact('open-lane', async (tx) => {
    const session = await lockSession(tx, lane);
    // Another process, or an input that completed the merge, may have been faster.
    if (session?.state !== 'idle' || session.laneDueAt === null) return undefined;
    return dequeueNext(tx, session, mintFrom(opener));
  });
  if (begun !== undefined) opener.wakeups.wake(foundationChannels.runs);
}
