/** How a run ends: its last event and its end state as one, after which nothing comes (F7), and what its session does then. */
import type { Tx } from '../../platform/index.js';
import type { JsonValue, Mint } from '../../protocol/index.js';
import { noteFact, runFact } from '../fact/index.js';
import { type EndedRunStatus, endRun, lockQueuedRun, type RunRecord, selectUndeliveredSteers } from '../run/index.js';
import { appendRunEvents, type NewRunEvent } from '../run-event/index.js';
import type { SessionRecord } from '../session/index.js';
import { endCandidate, enqueueUndelivered } from './candidate-store.js';
import { dequeueNext } from './lane.js';

export interface RunEnd {
  status: EndedRunStatus;
  reason: string | null;
  result?: JsonValue;
  /** The state that it ends from; only who never began it ends a queued one. */
  from?: 'queued' | 'running';
}

export function endEventOf(end: RunEnd): NewRunEvent {
  const data = {
    ...(end.reason === null ? {} : { reason: end.reason }),
    ...(end.result === undefined ? {} : { result: end.result }),
  };
  return { type: `run.${end.status}`, data };
}

/** The caller has the run locked and knows that it is still running, or queued. */
export async function endRunWithEvent(tx: Tx, { home, id }: { home: string; id: string }, end: RunEnd): Promise<void> {
  await appendRunEvents(tx, { home, runId: id, events: [endEventOf(end)] });
  await endRun(tx, { home, id, ...end });
}

export interface LeaveRun {
  session: SessionRecord;
  run: RunRecord;
  end: Pick<RunEnd, 'status' | 'reason'>;
  mint: Mint;
}

/** After a run that no other replaces: whoever waits for it is told, its input is done with, and its session goes on. */
export async function leaveRun(tx: Tx, { session, run, end, mint }: LeaveRun): Promise<void> {
  const { home } = run;
  await noteFact(tx, { ...runFact(run, end.status, end.reason), ids: mint });
  const status = end.status === 'failed' ? 'failed' : 'consumed';
  await endCandidate(tx, { home, id: run.activationCandidateId, status });
  const missed = await selectUndeliveredSteers(tx, { home, runId: run.id });
  await enqueueUndelivered(tx, { home, ids: missed.map(({ candidateId }) => candidateId) });
  await dequeueNext(tx, session, mint);
}

/**
 * A run that nobody has begun ends at once when it is cancelled: also that of a paused agent, or of one whose host is gone.
 * False when it has begun: then whoever drives it is told. The caller has the session locked.
 */
export async function cancelQueuedRun(
  tx: Tx,
  { session, runId, mint }: { session: SessionRecord; runId: string; mint: Mint },
): Promise<boolean> {
  const run = await lockQueuedRun(tx, { home: session.home, id: runId });
  if (!run) return false;
  const end = { status: 'cancelled', reason: 'control_cancel' } as const;
  await endRunWithEvent(tx, run, { ...end, from: 'queued' });
  await leaveRun(tx, { session, run, end, mint });
  return true;
}
