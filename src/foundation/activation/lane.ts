/** A session's lane: what is queued runs one after the other, in log order, one live run at a time (F6). */
import type { Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import { newId } from '../new-id.js';
import { insertRun } from '../run/index.js';
import { enterState, type SessionRecord } from '../session/index.js';
import { beginCandidate, selectLaneHead } from './candidate-store.js';

export interface BeginRun {
  session: SessionRecord;
  runId: string;
  candidateId: string;
  /** From where the log answers the waits of this run. */
  position: number;
  resumedFromRunId?: string;
  /** The dead run that this one replaces, and which attempt it is. */
  retryOf?: { runId: string; attempt: number };
}

/** A queued run that makes its session active. The caller has the session locked. */
export async function beginRun(tx: Tx, begin: BeginRun): Promise<void> {
  const { session, runId, candidateId, position, resumedFromRunId, retryOf } = begin;
  await insertRun(tx, {
    home: session.home,
    id: runId,
    tenant: session.tenant,
    sessionId: session.id,
    candidateId,
    runtimeId: session.runtimeId,
    runtimeVersion: session.runtimeVersion,
    inputLogCursor: position,
    resumedFromRunId: resumedFromRunId ?? null,
    ...(retryOf === undefined ? {} : { retryOfRunId: retryOf.runId, attempt: retryOf.attempt }),
  });
  await enterState(tx, { home: session.home, id: session.id, state: 'active', activeRunId: runId });
}

/** Starts the next of the lane, or lets the session be idle. Answers the new run. */
export async function dequeueNext(tx: Tx, session: SessionRecord, mint: Mint): Promise<string | undefined> {
  const head = await selectLaneHead(tx, { home: session.home, sessionId: session.id });
  if (!head) {
    await enterState(tx, { home: session.home, id: session.id, state: 'idle' });
    return undefined;
  }
  const runId = newId('run', session.home, mint);
  await beginCandidate(tx, { home: session.home, id: head.id, runId, attempt: 1 });
  await beginRun(tx, { session, runId, candidateId: head.id, position: head.position });
  return runId;
}
