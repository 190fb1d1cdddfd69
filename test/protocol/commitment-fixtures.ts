/** One promise between two agents, its transitions, and a road into each state. */

import {
  type Address,
  type CommitmentState,
  type CommitmentTransition,
  type CommitmentView,
  type Digest,
  digestOf,
  foldCommitment,
  formatAddress,
  formatInstant,
  type Proposal,
  type TransitionKind,
  toUtf8,
} from '../../src/protocol/index.js';
import {
  ALPHA,
  ASKER,
  ASKER_ID,
  COMMITMENT,
  CONVERSATION,
  later,
  messageId,
  PROPOSAL,
  principalOf,
  WORKER,
  WORKER_ID,
} from './fixtures.js';

export const JUDGE = formatAddress({ kind: 'human', domain: ALPHA, name: 'judge' });
const STRANGER = formatAddress({ kind: 'agent', domain: ALPHA, name: 'stranger' });
export const DEADLINE_MS = 60_000;
export const proposal: Proposal = {
  proposal_id: PROPOSAL,
  version: 3,
  commitment_id: COMMITMENT,
  action: 'audit.release',
  subject: 'release://alpha.test/184',
  deadline: formatInstant(later(DEADLINE_MS)),
  resolver: JUDGE,
};
export const PROPOSAL_DIGEST = digestOf(toUtf8('proposal'));
export const REPORT_ID = messageId();
export const REPORT_DIGEST = digestOf(toUtf8('report'));
export const AUTHORS = { creditor: ASKER, debtor: WORKER, resolver: JUDGE, stranger: STRANGER };
export type Role = keyof typeof AUTHORS;

export type Step = {
  kind: TransitionKind;
  by: Role;
  at: number;
  previous?: Digest | '';
  change?: Record<string, unknown>;
};

/** A transition as `transitionOf` would make it; its digest is of its content, so equal steps are equal transitions. */
export function step({ kind, by, at, previous = '', change = {} }: Step): CommitmentTransition {
  const author: Address = AUTHORS[by];
  const name = `${kind} ${by} ${at} ${previous} ${JSON.stringify(change)}`;
  const common = {
    commitmentId: COMMITMENT,
    conversationId: CONVERSATION,
    messageId: kind === 'report' ? REPORT_ID : messageId(),
    digest: digestOf(toUtf8(name)),
    previous,
    author,
    authorPrincipalId: author === ASKER ? ASKER_ID : author === WORKER ? WORKER_ID : principalOf(author),
    issuedAt: formatInstant(later(at)),
    bodyDigest: kind === 'request' ? PROPOSAL_DIGEST : kind === 'report' ? REPORT_DIGEST : digestOf(toUtf8(name)),
  };
  const bound = { proposalId: PROPOSAL, version: 3, proposalDigest: PROPOSAL_DIGEST };
  switch (kind) {
    case 'request':
      return { ...common, kind, proposal, debtor: WORKER, ...change };
    case 'accept_proposal':
    case 'reject':
      return { ...common, kind, ...bound, ...change };
    case 'report':
      return { ...common, kind, proposalDigest: PROPOSAL_DIGEST, summary: 'done', evidence: [], ...change };
    case 'accept_report':
    case 'dispute':
      return { ...common, kind, reportMessageId: REPORT_ID, reportDigest: REPORT_DIGEST, ...change };
    default:
      return { ...common, kind, proposalDigest: PROPOSAL_DIGEST, ...change };
  }
}

export const request = step({ kind: 'request', by: 'creditor', at: 0 });
export const accept = step({ kind: 'accept_proposal', by: 'debtor', at: 10 });
export const report = step({ kind: 'report', by: 'debtor', at: 20, previous: accept.digest });
export const fulfil = step({ kind: 'accept_report', by: 'creditor', at: 30, previous: request.digest });
export const dispute = step({ kind: 'dispute', by: 'creditor', at: 30, previous: request.digest });

export const fold = (transitions: CommitmentTransition[], at = 100) => foldCommitment(transitions, later(at));
export const stateOf = (transitions: CommitmentTransition[], at = 100) => fold(transitions, at).view?.state ?? 'none';

/** A view in each state, reached only by transitions of the table. */
const ROADS: Record<CommitmentState, CommitmentTransition[]> = {
  proposed: [request],
  active: [request, accept],
  overdue: [request, accept],
  rejected: [request, step({ kind: 'reject', by: 'debtor', at: 10 })],
  reported: [request, accept, report],
  canceled: [request, accept, step({ kind: 'revoke', by: 'creditor', at: 15, previous: request.digest })],
  fulfilled: [request, accept, report, fulfil],
  disputed: [request, accept, report, dispute],
  violated: [request, accept, report, dispute, step({ kind: 'resolve_violated', by: 'resolver', at: 40 })],
};

export function viewIn(state: CommitmentState): CommitmentView {
  const { view } = fold(ROADS[state], state === 'overdue' ? DEADLINE_MS + 1 : 100);
  if (!view) throw new TypeError('no view');
  return view;
}
