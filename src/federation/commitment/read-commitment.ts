// Reads a commitment with the assessment that holds now: what is stored was true when the last transition came in.
import type { Sql } from '../../platform/index.js';
import { type CommitmentTransition, type CommitmentView, type Domain, foldCommitment } from '../../protocol/index.js';
import {
  type Admission,
  admitTransition,
  recallTransition,
  type StoredTransition,
  transitionsKept,
} from './commitment.js';
import { type CommitmentRow, readCommitmentRow, readCopiesFor, readTransitions } from './store.js';

export interface Commitment {
  row: CommitmentRow;
  view: CommitmentView;
  transitions: StoredTransition[];
}

export async function readCommitment(
  sql: Sql,
  { home, commitmentId, now }: { home: string; commitmentId: string; now: Date },
): Promise<Commitment | undefined> {
  const row = await readCommitmentRow(sql, { home, commitmentId });
  if (!row) return undefined;
  const transitions = await readTransitions(sql, { home, commitmentId, after: 0, limit: transitionsKept });
  const { view } = foldCommitment(transitions.map(recallTransition), now);
  if (!view) throw new Error(`the log of ${commitmentId} folds to nothing`);
  return { row, view, transitions };
}

/** The log as a participant's domain may read it; undefined when the domain takes no part, as for an unknown id. */
export async function readLogFor(
  sql: Sql,
  { commitmentId, domain, after, limit }: { commitmentId: string; domain: Domain; after: number; limit: number },
): Promise<StoredTransition[] | undefined> {
  const [copy] = await readCopiesFor(sql, { commitmentId, domain });
  return copy && readTransitions(sql, { home: copy.home, commitmentId, after, limit });
}

/** Whether a transition of our own could join the log as read; asked before it is committed, to refuse in words. */
export function admitLocally(
  commitment: Commitment | undefined,
  transition: CommitmentTransition,
  now: Date,
): Admission {
  return admitTransition((commitment?.transitions ?? []).map(recallTransition), transition, now);
}
