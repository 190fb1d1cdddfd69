/**
 * Waits whose time is over by the database's clock go on all the same, by the input `suspension.expired`, which is written
 * in the commit that marks them: a crash leaves both or neither, and several processes mark each once. What was received in
 * time and is in the log by then still counts, so the log is read once more before. One that cannot be ended is tried later
 * and later, and holds up no other. Lock order: session.
 */
import { isConnectionLost, type Tx } from '../../platform/index.js';
import { causeOfRun, foundationPrincipal } from '../fact/index.js';
import { acceptInput, foundationSource, selectResolvedPosition } from '../input/index.js';
import { mintFrom } from '../new-id.js';
import { foundationChannels, type StepOutcome } from '../parts.js';
import { lockSession } from '../session/index.js';
import {
  endSubscriptionsOf,
  expireSuspension,
  type SuspensionRecord,
  selectDueSuspensions,
  selectSuspension,
} from '../suspension/index.js';
import { postponeWait, type Replayer, readLog } from './replay-suspensions.js';

const batch = 50;

export async function expireSuspensions(expirer: Replayer): Promise<StepOutcome> {
  const due = await selectDueSuspensions(expirer.db.sql, batch);
  for (const suspension of due) {
    try {
      await expire(expirer, suspension);
    } catch (error) {
      if (isConnectionLost(error)) throw error;
      await postponeWait(expirer, suspension, error);
    }
  }
  return due.length === batch ? 'more' : 'idle';
}

async function expire(expirer: Replayer, { home, id, sessionId }: SuspensionRecord): Promise<void> {
  const wake = new Set<string>();
  await expirer.db.transact('expire-suspension', async (tx) => {
    const session = await lockSession(tx, { home, id: sessionId });
    const suspension = await selectSuspension(tx, home, id);
    if (!session || suspension?.status !== 'open' || suspension.expiredBy !== null) return;
    // What has been resolved has met the subscriptions.
    const after = suspension.replayedAt === null ? undefined : await selectResolvedPosition(tx, suspension.tenant);
    const left = await readLog(expirer, tx, { suspension, session, wake, after });
    // A log that holds more is read on, or resolved, first: it comes again.
    if (left === 'more' || (await selectSuspension(tx, home, id))?.status !== 'open') return;
    await writeExpiry(expirer, tx, suspension);
    wake.add(foundationChannels.inputs);
  });
  for (const channel of wake) expirer.wakeups.wake(channel);
}

async function writeExpiry(expirer: Replayer, tx: Tx, suspension: SuspensionRecord): Promise<void> {
  const { home, id, tenant, sessionId, runId, reason, expiresAt, partlyMatched } = suspension;
  const cause = await causeOfRun(tx, { home, runId });
  const { inputId } = await acceptInput(tx, {
    ingress: {
      tenant,
      home,
      source: foundationSource,
      principal: foundationPrincipal,
      trustClass: 'trusted_fact',
      relationship: 'own',
    },
    input: {
      kind: 'event',
      type: 'suspension.expired',
      source_event_id: `${foundationSource}/suspension.expired/${id}`,
      subject: { resource: `suspension:${id}` },
      target: { session: sessionId },
      ...(cause === undefined ? {} : { causation_id: cause.inputId }),
      data: {
        suspension_id: id,
        session_id: sessionId,
        run_id: runId,
        reason,
        expires_at: expiresAt?.toISOString() ?? null,
        partly_matched: partlyMatched,
        // It continues what there is, so it is no step further: a wait always ends.
        depth: cause?.depth ?? 0,
      },
    },
    ids: mintFrom(expirer),
  });
  if (await expireSuspension(tx, { home, id }, inputId)) await endSubscriptionsOf(tx, home, id);
  else throw new Error(`suspension ${id} was not due any more when it expired`);
}
