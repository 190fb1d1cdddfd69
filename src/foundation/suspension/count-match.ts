/** Counts an input into the open wait of a locked session, by the pure rules of its policy. */
import type { Tx } from '../../platform/index.js';
import type { InputRecord } from '../input/index.js';
import { countInput, dueAtOf, isPartSatisfied } from './resume-policy.js';
import type { SuspensionRecord } from './suspension.js';
import { recordMatches, selectParts } from './wait-store.js';

/** `matched`: the wait is over, and the caller consumes it. `repeated`: it counts for nothing (any more). */
export type WaitOutcome = 'matched' | 'partly_matched' | 'repeated' | 'expired';

export async function countMatch(
  tx: Tx,
  suspension: SuspensionRecord,
  input: InputRecord & { position: number },
): Promise<WaitOutcome> {
  // Its expiry is written in the log: that is what ends it.
  if (suspension.expiredBy !== null) return input.id === suspension.expiredBy ? 'expired' : 'repeated';
  const { home, id, needed, expiresAt } = suspension;
  const parts = await selectParts(tx, { home, id });
  const { wait, counted, satisfied } = countInput({ needed, expiresAt, parts }, input);
  if (satisfied) return 'matched';
  if (counted.length === 0) return 'repeated';
  const done = wait.parts.filter((part) => isPartSatisfied(part) && counted.some((each) => each.id === part.id));
  await recordMatches(tx, {
    home,
    id,
    input,
    counted,
    satisfied: done.map((part) => part.id),
    dueAt: dueAtOf(wait),
  });
  return 'partly_matched';
}
