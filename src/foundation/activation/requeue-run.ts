/**
 * A run whose process is gone ends failed, and its input gets a fresh run at the head of the lane: the session stays
 * active in between, so the order holds and nothing is left busy (BR-41). Lock order: session, run.
 */
import type { Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import { appendAudit } from '../audit/index.js';
import { newId } from '../new-id.js';
import { isCancelWanted, type RunRecord, repeatSteers, runLimits } from '../run/index.js';
import type { SessionRecord } from '../session/index.js';
import { beginCandidate } from './candidate-store.js';
import { endRunWithEvent, leaveRun } from './end-run.js';
import { beginRun } from './lane.js';

export interface RequeueRun {
  session: SessionRecord;
  /** Locked, and still running. */
  run: RunRecord;
  reason: 'lease_expired' | 'host_stopping';
  mint: Mint;
}

export async function requeueRun(tx: Tx, { session, run, reason, mint }: RequeueRun): Promise<void> {
  const { home } = run;
  const cancelled = await isCancelWanted(tx, { home, runId: run.id });
  // Who wanted the run to end does not want another one.
  const end = cancelled
    ? ({ status: 'cancelled', reason: 'control_cancel' } as const)
    : ({ status: 'failed', reason } as const);
  await endRunWithEvent(tx, run, end);
  await appendAudit(tx, {
    home,
    actor: 'system:reap-runs',
    action: 'run.end',
    object: run.id,
    outcome: cancelled ? 'cancelled' : reason,
    details: { attempt: run.attempt, placement_epoch: run.placementEpoch },
  });
  // A host that stops in order says nothing about the input: only a dead one counts as a failed attempt.
  const attempt = reason === 'host_stopping' ? run.attempt : run.attempt + 1;
  if (cancelled || attempt > runLimits.attempts) {
    await leaveRun(tx, { session, run, end, mint });
    return;
  }
  const runId = newId('run', home, mint);
  await beginCandidate(tx, { home, id: run.activationCandidateId, runId, attempt });
  await beginRun(tx, {
    session,
    runId,
    candidateId: run.activationCandidateId,
    position: run.inputLogCursor,
    retryOf: { runId: run.id, attempt },
    ...(run.resumedFromRunId === null ? {} : { resumedFromRunId: run.resumedFromRunId }),
  });
  await repeatSteers(tx, { home, from: run.id, to: runId });
}
