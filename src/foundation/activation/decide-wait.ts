/** What an input that a wait is about does to it: counted under the session's lock, and decided on by what it came to. */
import type { Tx } from '../../platform/index.js';
import type { InputRecord } from '../input/index.js';
import { countMatch, type SuspensionRecord } from '../suspension/index.js';
import { type ActivationDecision, type ActivationFacts, decideActivation } from './decide-activation.js';

export interface DecideWait {
  facts: ActivationFacts;
  suspension: SuspensionRecord;
  input: InputRecord & { position: number };
  /** What is decided when it ends the wait. */
  decided: ActivationDecision;
}

/** Only what would resume by its match is counted: a control resumes whatever has been counted. */
export async function decideWait(
  tx: Tx,
  { facts, suspension, input, decided }: DecideWait,
): Promise<ActivationDecision> {
  if (decided.decision !== 'RESUME' || facts.route !== 'suspension') return decided;
  const waitOutcome = await countMatch(tx, suspension, input);
  return waitOutcome === 'matched' ? decided : decideActivation({ ...facts, waitOutcome });
}
