// Adds one signed transition to a principal's log, in the transaction that stores or sends the envelope that carries it.
import type { Tx } from '../../platform/index.js';
import {
  type CommitmentState,
  type CommitmentTransition,
  type JsonValue,
  type Mint,
  parseInstant,
  type Refusal,
  refuse,
} from '../../protocol/index.js';
import { admitTransition, recallTransition, transitionsKept } from './commitment.js';
import {
  type CommitmentRow,
  insertCommitment,
  insertTransition,
  lockCommitment,
  readTransitions,
  updateAssessment,
} from './store.js';
import { type CommitmentHolder, watchDeadline } from './watch-deadline.js';

export interface ApplyTransition {
  holder: CommitmentHolder;
  transition: CommitmentTransition;
  /** The envelope that carries it, as signed. */
  carrier: { header: Uint8Array; signature: string; body: Uint8Array; certificate: string };
  ids: Mint;
}

export type Applied = { ok: true; state: CommitmentState } | Refusal;

export async function applyTransition(tx: Tx, { holder, transition, carrier, ids }: ApplyTransition): Promise<Applied> {
  const { home } = holder;
  const key = { home, commitmentId: transition.commitmentId };
  const row = await lockCommitment(tx, key);
  const log = row ? await readTransitions(tx, { ...key, after: 0, limit: transitionsKept }) : [];
  const admission = admitTransition(log.map(recallTransition), transition, ids.now);
  if (!admission.ok) return admission;
  if (row && row.conversationId !== transition.conversationId) {
    return refuse('interaction_invalid', 'a commitment stays in the conversation that it was made in');
  }
  if (!row && !(await insertCommitment(tx, openingRow(home, transition, admission.state)))) {
    return refuse('commitment_wrong_state', 'the commitment is being made by another message');
  }
  const position = (row?.transitionCount ?? 0) + 1;
  await insertTransition(tx, {
    ...key,
    ...carrier,
    position,
    messageId: transition.messageId,
    author: transition.author,
    authorPrincipalId: transition.authorPrincipalId,
    kind: transition.kind,
    headerDigest: transition.digest,
    previous: transition.previous,
    issuedAt: instantOf(transition.issuedAt),
  });
  await updateAssessment(tx, { ...key, state: admission.state, count: position });
  await watchDeadline(tx, {
    holder,
    commitmentId: key.commitmentId,
    deadline: row?.deadline ?? null,
    before: admission.before?.state,
    after: admission.state,
    ids,
  });
  return { ok: true, state: admission.state };
}

function openingRow(
  home: string,
  transition: CommitmentTransition,
  state: CommitmentState,
): Omit<CommitmentRow, 'createdAt' | 'updatedAt' | 'transitionCount'> {
  if (transition.kind !== 'request') throw new Error('only a request opens a commitment');
  const { proposal } = transition;
  return {
    home,
    commitmentId: transition.commitmentId,
    conversationId: transition.conversationId,
    proposalId: proposal.proposal_id,
    proposalVersion: proposal.version,
    proposalDigest: transition.bodyDigest,
    debtor: transition.debtor,
    creditor: transition.author,
    content: contentOf(proposal),
    deadline: proposal.deadline === undefined ? null : instantOf(proposal.deadline),
    localAssessment: state,
    createdFromInteraction: transition.messageId,
  };
}

/** The proposal as plain JSON; absent members stay absent. */
function contentOf(proposal: object): JsonValue {
  return JSON.parse(JSON.stringify(proposal));
}

function instantOf(text: string): Date {
  const instant = parseInstant(text);
  if (!instant) throw new Error(`${text} is not an instant`);
  return instant;
}
