/** An orderly end of this host: what runs may finish for a while, the rest is given back, and so are the placements. */
import { isConnectionLost } from '../../platform/index.js';
import { mintFrom } from '../new-id.js';
import { type FoundationParts, foundationChannels } from '../parts.js';
import { lockHeldRun, selectRun } from '../run/index.js';
import { runChannel } from '../run-event/index.js';
import type { LiveRun } from '../runtime/index.js';
import { lockSession } from '../session/index.js';
import { requeueRun } from './requeue-run.js';

type Drainer = Pick<FoundationParts, 'db' | 'clock' | 'random' | 'wakeups' | 'placements' | 'holder' | 'live' | 'log'>;

export async function drainRuns(drainer: Drainer, { graceMs }: { graceMs: number }): Promise<void> {
  const { db, clock, live, placements, holder } = drainer;
  live.close();
  const done = new AbortController();
  await Promise.race([live.idle(), clock.sleep(graceMs, done.signal)]);
  done.abort();
  for (const run of live.list()) {
    run.stop('released');
    await ifReachable(drainer, giveBack(drainer, run));
  }
  await live.idle();
  await ifReachable(
    drainer,
    db.transact('release-placements', (tx) => placements.release(tx, holder)),
  );
}

/** Giving back only shortens a wait: where the database is gone, leases end by themselves, and a host has to end too. */
async function ifReachable({ log }: Drainer, given: Promise<void>): Promise<void> {
  try {
    await given;
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
    log.warn({ err: error }, 'nothing could be given back; leases end it');
  }
}

async function giveBack(drainer: Drainer, { home, runId }: LiveRun): Promise<void> {
  await drainer.db.transact('give-back-run', async (tx) => {
    const seen = await selectRun(tx, home, runId);
    const session = seen && (await lockSession(tx, { home, id: seen.sessionId }));
    const run = session && (await lockHeldRun(tx, { home, id: runId, holder: drainer.holder }));
    if (run) await requeueRun(tx, { session, run, reason: 'host_stopping', mint: mintFrom(drainer) });
  });
  drainer.wakeups.wake(runChannel(runId));
  drainer.wakeups.wake(foundationChannels.runs);
}
