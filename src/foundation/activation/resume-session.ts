/** RESUME: the wait is consumed in the commit that creates the continuation run, so no match resumes twice (F14). */
import type { Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import type { InputRecord } from '../input/index.js';
import { newId } from '../new-id.js';
import type { SessionRecord } from '../session/index.js';
import { consumeSuspension, type SuspensionRecord } from '../suspension/index.js';
import { consumeQueued, insertCandidate, takeMatched } from './candidate-store.js';
import type { ActivationDecision } from './decide-activation.js';
import { beginRun } from './lane.js';

export interface ResumeSession {
  session: SessionRecord;
  suspension: SuspensionRecord;
  input: InputRecord & { position: number };
  route: string;
  decided: ActivationDecision;
  mint: Mint;
}

/** The caller has the session locked. False when the wait is over already. */
export async function resumeSession(tx: Tx, resume: ResumeSession): Promise<boolean> {
  const { session, suspension, input, route, decided, mint } = resume;
  const { home } = session;
  const runId = newId('run', home, mint);
  const candidateId = newId('cand', home, mint);
  if (!(await consumeSuspension(tx, { home, id: suspension.id, continuationRunId: runId }))) return false;
  const inserted = await insertCandidate(tx, {
    home,
    id: candidateId,
    input,
    route,
    sessionId: session.id,
    decided,
    status: 'running',
    runId,
  });
  if (!inserted) throw new Error(`input ${input.id} had reached suspension ${suspension.id} while it was open`);
  if (suspension.partlyMatched > 0) {
    await takeMatched(tx, { home, suspensionId: suspension.id, sessionId: session.id, seedId: candidateId, runId });
  }
  await consumeQueued(tx, { home, inputId: input.id, sessionId: session.id, runId });
  await beginRun(tx, {
    session,
    runId,
    candidateId,
    // What came while it waited for something else may be what it waits for next.
    position: suspension.inputLogCursor,
    resumedFromRunId: suspension.runId,
  });
  return true;
}
