/**
 * Journey 2, last step: a run ends, its input is consumed, and its session goes on, in one commit. Before it the run is
 * still running and its lease will end it; after it nothing of the run is open. Lock order: placement, session, run.
 */
import type { Tx } from '../../platform/index.js';
import type { JsonValue } from '../../protocol/index.js';
import { appendAudit } from '../audit/index.js';
import { noteFact, runFact } from '../fact/index.js';
import { mintFrom } from '../new-id.js';
import { type FoundationParts, foundationChannels } from '../parts.js';
import { type ClaimedRun, isCancelWanted, selectUndeliveredSteers } from '../run/index.js';
import { holdRunningRun, runChannel } from '../run-event/index.js';
import type { RunEnding, SuspensionRequest } from '../runtime/index.js';
import { enterState, keepRuntimeState, lockSession } from '../session/index.js';
import { declareWait, holdTelling, insertRuntimeState } from '../suspension/index.js';
import { endCandidate, enqueueUndelivered } from './candidate-store.js';
import { endRunWithEvent, type RunEnd } from './end-run.js';
import { dequeueNext } from './lane.js';

export type Settler = Pick<FoundationParts, 'db' | 'clock' | 'random' | 'wakeups' | 'placements'>;

export interface Settled {
  /** False when the run was no longer ours: what it came to is recorded as ignored, and changes nothing (BR-57). */
  settled: boolean;
  /** Set when the run has suspended: its log is to be replayed now. */
  suspensionId?: string;
  /** Somebody is told of it, by an input. */
  noted?: boolean;
}

export async function settleRun(settler: Settler, run: ClaimedRun, ending: RunEnding): Promise<Settled> {
  const outcome = await settler.db.transact('settle-run', (tx) => settleIn(settler, tx, { run, ending }));
  settler.wakeups.wake(runChannel(run.id));
  if (outcome.settled) settler.wakeups.wake(foundationChannels.runs);
  if (outcome.noted) settler.wakeups.wake(foundationChannels.inputs);
  if (outcome.suspensionId !== undefined) settler.wakeups.wake(foundationChannels.suspensions);
  return outcome;
}

interface Settling {
  run: ClaimedRun;
  ending: RunEnding;
}

async function settleIn(settler: Settler, tx: Tx, { run, ending }: Settling): Promise<Settled> {
  const { home, id } = run;
  const fence = await settler.placements.hold(tx, run.fence);
  const session = fence && (await lockSession(tx, { home, id: run.sessionId }));
  const ours = session && (await holdRunningRun(tx, { home, runId: id, fence: run.fence }));
  if (!ours) {
    await auditLate(tx, run, ending);
    return { settled: false };
  }
  const cancelled = ending.type === 'run.suspended' && (await isCancelWanted(tx, { home, runId: id }));
  // A cancel that the runtime did not see in time ends the wait that it declared.
  const final: RunEnding = cancelled ? { type: 'run.cancelled', reason: 'control_cancel' } : ending;
  const end = endOf(final);
  if (final.type === 'run.suspended') await holdTelling(tx, { tenant: run.tenant, waits: final.subscriptions });
  await endRunWithEvent(tx, run, end);
  const noted = await noteFact(tx, { ...runFact(run, end.status, end.reason), ids: mintFrom(settler) });
  await endCandidate(tx, {
    home,
    id: run.activationCandidateId,
    status: final.type === 'run.failed' ? 'failed' : 'consumed',
  });
  const missed = await selectUndeliveredSteers(tx, { home, runId: id });
  await enqueueUndelivered(tx, { home, ids: missed.map(({ candidateId }) => candidateId) });
  if (final.type === 'run.suspended') {
    return { settled: true, noted, suspensionId: await suspend(settler, tx, { run, request: final }) };
  }
  if (final.type === 'run.completed') await keepState(tx, run, final.runtimeState);
  await dequeueNext(tx, session, mintFrom(settler));
  return { settled: true, noted };
}

export function endOf(ending: RunEnding): RunEnd {
  switch (ending.type) {
    case 'run.completed':
      return { status: 'completed', reason: null, result: ending.result };
    case 'run.suspended':
      return { status: 'suspended', reason: ending.reason };
    case 'run.failed':
      return { status: 'failed', reason: ending.reason };
    case 'run.cancelled':
      return { status: 'cancelled', reason: ending.reason };
    case 'run.budget_exceeded':
      return { status: 'budget_exceeded', reason: ending.reason };
  }
}

async function suspend(
  settler: Settler,
  tx: Tx,
  { run, request }: { run: ClaimedRun; request: SuspensionRequest },
): Promise<string> {
  const { home, sessionId } = run;
  const id = await declareWait(tx, { run, request, mint: mintFrom(settler) });
  await keepRuntimeState(tx, { home, id: sessionId, ref: id });
  await enterState(tx, { home, id: sessionId, state: 'suspended' });
  return id;
}

/** What the runtime wants to go on from in the session's next run; a completed run without it leaves nothing. */
async function keepState(tx: Tx, run: ClaimedRun, state: JsonValue | undefined): Promise<void> {
  const { home, id, sessionId, runtimeId, runtimeVersion } = run;
  if (state !== undefined) await insertRuntimeState(tx, { home, ref: id, sessionId, runtimeId, runtimeVersion, state });
  await keepRuntimeState(tx, { home, id: sessionId, ref: state === undefined ? null : id });
}

function auditLate(tx: Tx, run: ClaimedRun, ending: RunEnding): Promise<void> {
  return appendAudit(tx, {
    home: run.home,
    actor: `host:${run.fence.placementLeaseId}`,
    action: 'run.settle',
    object: run.id,
    outcome: 'ignored',
    details: { ending: ending.type, placement_epoch: run.fence.placementEpoch },
  });
}
