/**
 * A wait for what the Foundation does may begin after it was done: facts are only written where somebody waits. So the
 * runs and effects that a fresh wait names are locked and looked at, after the wait has committed. Whoever ends one of them
 * has it locked until his own commit, and either saw the subscription, or is seen here.
 */
import type { Tx } from '../../platform/index.js';
import { lockedFact, writeFact } from '../fact/index.js';
import { type InputRecord, selectInput } from '../input/index.js';
import { mintFrom } from '../new-id.js';
import { foundationChannels } from '../parts.js';
import { type SuspensionRecord, selectAwaitedSubjects } from '../suspension/index.js';
import { hasReachedSession } from './candidate-store.js';
import type { Replayer } from './replay-suspensions.js';

type LoggedInput = InputRecord & { position: number };

/** Answers the facts that were told before the wait's cursor; those that are written now come in the log. */
export async function noteEarlier(
  replayer: Replayer,
  tx: Tx,
  { suspension, wake }: { suspension: SuspensionRecord; wake: Set<string> },
): Promise<LoggedInput[]> {
  const { home, tenant, sessionId, inputLogCursor } = suspension;
  const told: LoggedInput[] = [];
  for (const subject of await selectAwaitedSubjects(tx, suspension)) {
    const fact = await lockedFact(tx, { tenant, subject });
    const written = fact && (await writeFact(tx, { ...fact, ids: mintFrom(replayer) }));
    if (!fact || !written) continue;
    if (!written.duplicate) wake.add(foundationChannels.inputs);
    const { inputId } = written;
    const input = await selectInput(tx, fact.home, inputId);
    if (!input || input.position === null || input.position > inputLogCursor) continue;
    // What this session has taken itself is no answer.
    if (!(await hasReachedSession(tx, { home, inputId, sessionId }))) told.push({ ...input, position: input.position });
  }
  return told.sort((a, b) => a.position - b.position);
}
