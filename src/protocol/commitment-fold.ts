/**
 * The materialised view of a commitment: a pure function of the set of its transitions and an instant. The order in which
 * transitions arrived does not matter; each domain folds what it has, so that two domains may rightly differ for a while.
 */

import type { Address } from './address.js';
import {
  type CommitmentState,
  type CommitmentTransition,
  decideTransition,
  stateAt,
  type TransitionRefusal,
} from './commitment-transition.js';
import { type Digest, formatInstant } from './encoding.js';
import type { CommitmentId, ConversationId, MessageId, PrincipalId } from './identifier.js';
import type { Evidence, Proposal } from './interaction.js';

type CommitmentReport = {
  readonly messageId: MessageId;
  /** Digest of the exact body bytes of the report. */
  readonly digest: Digest;
  readonly issuedAt: string;
  readonly late: boolean;
  readonly summary: string;
  readonly evidence: readonly Evidence[];
};

export type CommitmentView = {
  readonly commitmentId: CommitmentId;
  readonly conversationId: ConversationId;
  /** The state as of the instant of the fold. */
  readonly state: CommitmentState;
  /** The state without the clock: never `overdue`. */
  readonly baseState: CommitmentState;
  readonly creditor: Address;
  readonly debtor: Address;
  readonly resolver: Address | undefined;
  readonly principals: Readonly<Record<Address, PrincipalId>>;
  readonly proposal: Proposal;
  readonly proposalDigest: Digest;
  readonly deadline: string | undefined;
  readonly reports: readonly CommitmentReport[];
  readonly cancelAskedBy: readonly Address[];
  /** The last transition of each author that took effect: what its next one must name as `previous`. */
  readonly heads: Readonly<Record<Address, Digest>>;
};

export type FoldedCommitment = {
  readonly view: CommitmentView | undefined;
  readonly applied: readonly CommitmentTransition[];
  /** Transitions without effect so far, each with its reason; one more transition may still give them effect. */
  readonly refused: readonly { readonly transition: CommitmentTransition; readonly refusal: TransitionRefusal }[];
};

/** Folds a set of transitions of one commitment. Of those that could be next, the earliest issued is; equal times by digest. */
export function foldCommitment(transitions: readonly CommitmentTransition[], now: Date): FoldedCommitment {
  const waiting = [...new Map(transitions.map((transition) => [transition.digest, transition])).values()].sort(byTime);
  const applied: CommitmentTransition[] = [];
  let view: CommitmentView | undefined;
  for (;;) {
    const at = waiting.findIndex((transition) => decideTransition(view, transition).ok);
    const [next] = at < 0 ? [] : waiting.splice(at, 1);
    if (!next) break;
    view = applyTransition(view, next);
    applied.push(next);
  }
  const refused = waiting.flatMap((transition) => {
    const refusal = decideTransition(view, transition);
    return refusal.ok ? [] : [{ transition, refusal }];
  });
  return { view: view && { ...view, state: stateAt(view, formatInstant(now)) }, applied, refused };
}

/** The view after a transition. Throws when the transition is not allowed: decide first. */
export function applyTransition(view: CommitmentView | undefined, transition: CommitmentTransition): CommitmentView {
  const decision = decideTransition(view, transition);
  if (!decision.ok) throw new TypeError(`${decision.reason}: ${decision.detail}`);
  const before = view ?? openView(transition);
  const { author, kind } = transition;
  const after = {
    ...before,
    state: decision.to,
    baseState: decision.to,
    heads: { ...before.heads, [author]: transition.digest },
    principals: { ...before.principals, [author]: transition.authorPrincipalId },
  };
  if (kind === 'report') return { ...after, reports: [...before.reports, reportOf(before, transition)] };
  if (kind === 'cancel') return { ...after, cancelAskedBy: [...before.cancelAskedBy, author] };
  return after;
}

function openView(transition: CommitmentTransition): CommitmentView {
  if (transition.kind !== 'request') throw new TypeError('a commitment opens with a request');
  const { proposal } = transition;
  return {
    commitmentId: transition.commitmentId,
    conversationId: transition.conversationId,
    state: 'proposed',
    baseState: 'proposed',
    creditor: transition.author,
    debtor: transition.debtor,
    resolver: proposal.resolver,
    principals: {},
    proposal,
    proposalDigest: transition.bodyDigest,
    deadline: proposal.deadline,
    reports: [],
    cancelAskedBy: [],
    heads: {},
  };
}

function reportOf(
  view: CommitmentView,
  transition: Extract<CommitmentTransition, { kind: 'report' }>,
): CommitmentReport {
  const { messageId, bodyDigest, issuedAt, summary, evidence } = transition;
  const late = view.deadline !== undefined && issuedAt > view.deadline;
  return { messageId, digest: bodyDigest, issuedAt, late, summary, evidence };
}

function byTime(left: CommitmentTransition, right: CommitmentTransition): number {
  if (left.issuedAt !== right.issuedAt) return left.issuedAt < right.issuedAt ? -1 : 1;
  return left.digest < right.digest ? -1 : left.digest > right.digest ? 1 : 0;
}
