/**
 * Who may make which transition of a commitment in which state: one published table. Each transition is a signed envelope;
 * logs are hash-linked per author. `overdue` is computed from the deadline, nobody sends it, and a late report stays possible.
 */

import type { Address } from './address.js';
import type { CommitmentView } from './commitment-fold.js';
import type { Digest } from './encoding.js';
import type { OpenedEnvelope } from './envelope.js';
import type { CommitmentId, ConversationId, MessageId, PrincipalId } from './identifier.js';
import type { Evidence, Interaction, Proposal } from './interaction.js';
import { type Refusal, refuse } from './problem.js';

export const COMMITMENT_STATES = [
  'proposed',
  'active',
  'rejected',
  'reported',
  'overdue',
  'canceled',
  'fulfilled',
  'disputed',
  'violated',
] as const;
export const TRANSITION_KINDS = [
  'request',
  'accept_proposal',
  'reject',
  'report',
  'accept_report',
  'dispute',
  'revoke',
  'cancel',
  'resolve_fulfilled',
  'resolve_violated',
] as const;
const PARTIES = ['creditor', 'debtor', 'resolver'] as const;

export type CommitmentState = (typeof COMMITMENT_STATES)[number];
export type TransitionKind = (typeof TRANSITION_KINDS)[number];
export type Party = (typeof PARTIES)[number];

type TransitionRow = {
  readonly from: CommitmentState | 'none';
  readonly kind: TransitionKind;
  /** `both`: takes effect once the creditor and the debtor have each made it. */
  readonly by: Party | 'both';
  readonly to: CommitmentState;
};

/** Rejected, canceled, fulfilled and violated have no way out. What is not in the table is refused. */
export const TRANSITION_TABLE: readonly TransitionRow[] = [
  { from: 'none', kind: 'request', by: 'creditor', to: 'proposed' },
  { from: 'proposed', kind: 'accept_proposal', by: 'debtor', to: 'active' },
  { from: 'proposed', kind: 'reject', by: 'debtor', to: 'rejected' },
  { from: 'proposed', kind: 'revoke', by: 'creditor', to: 'canceled' },
  { from: 'active', kind: 'report', by: 'debtor', to: 'reported' },
  { from: 'active', kind: 'revoke', by: 'creditor', to: 'canceled' },
  { from: 'active', kind: 'cancel', by: 'both', to: 'canceled' },
  { from: 'overdue', kind: 'report', by: 'debtor', to: 'reported' },
  { from: 'overdue', kind: 'revoke', by: 'creditor', to: 'canceled' },
  { from: 'overdue', kind: 'cancel', by: 'both', to: 'canceled' },
  { from: 'overdue', kind: 'resolve_violated', by: 'creditor', to: 'violated' },
  { from: 'overdue', kind: 'resolve_violated', by: 'resolver', to: 'violated' },
  { from: 'reported', kind: 'report', by: 'debtor', to: 'reported' },
  { from: 'reported', kind: 'accept_report', by: 'creditor', to: 'fulfilled' },
  { from: 'reported', kind: 'dispute', by: 'creditor', to: 'disputed' },
  { from: 'reported', kind: 'cancel', by: 'both', to: 'canceled' },
  { from: 'disputed', kind: 'report', by: 'debtor', to: 'reported' },
  { from: 'disputed', kind: 'accept_report', by: 'creditor', to: 'fulfilled' },
  { from: 'disputed', kind: 'cancel', by: 'both', to: 'canceled' },
  // A dispute ends when the party that it goes against gives in, or as the named resolver says.
  { from: 'disputed', kind: 'resolve_fulfilled', by: 'creditor', to: 'fulfilled' },
  { from: 'disputed', kind: 'resolve_fulfilled', by: 'resolver', to: 'fulfilled' },
  { from: 'disputed', kind: 'resolve_violated', by: 'debtor', to: 'violated' },
  { from: 'disputed', kind: 'resolve_violated', by: 'resolver', to: 'violated' },
];

type Binding =
  | { readonly kind: 'request'; readonly proposal: Proposal; readonly debtor: Address }
  | {
      readonly kind: 'accept_proposal' | 'reject';
      readonly proposalId: string;
      readonly version: number;
      readonly proposalDigest: Digest;
      readonly reason?: string;
    }
  | {
      readonly kind: 'report';
      readonly proposalDigest: Digest;
      readonly summary: string;
      readonly evidence: readonly Evidence[];
    }
  | { readonly kind: 'accept_report' | 'dispute'; readonly reportMessageId: MessageId; readonly reportDigest: Digest }
  | {
      readonly kind: 'revoke' | 'cancel' | 'resolve_fulfilled' | 'resolve_violated';
      readonly proposalDigest: Digest;
      readonly reason?: string;
    };

export type CommitmentTransition = Binding & {
  readonly commitmentId: CommitmentId;
  readonly conversationId: ConversationId;
  readonly messageId: MessageId;
  /** Digest of the envelope header: the name of this transition in the hash-linked log of its author. */
  readonly digest: Digest;
  /** Digest of the author's transition before this one in the commitment; empty for the first. */
  readonly previous: Digest | '';
  readonly author: Address;
  readonly authorPrincipalId: PrincipalId;
  readonly issuedAt: string;
  readonly bodyDigest: Digest;
};

/** A verified envelope, or one that this domain sealed itself and knows the principal of. */
export type TransitionSource = Pick<OpenedEnvelope, 'header' | 'headerDigest'> & {
  readonly senderPrincipalId: PrincipalId;
};

export type TransitionRefusal = Refusal<
  | 'commitment_unknown'
  | 'commitment_wrong_digest'
  | 'commitment_wrong_party'
  | 'commitment_wrong_state'
  | 'commitment_previous_mismatch'
>;

/** The transition that an interaction is; undefined for those that change no commitment. */
export function transitionOf(source: TransitionSource, interaction: Interaction): CommitmentTransition | undefined {
  if (interaction.type === 'message') return undefined;
  const { header } = source;
  const common = {
    conversationId: header.conversation_id,
    messageId: header.message_id,
    digest: source.headerDigest,
    author: header.sender,
    authorPrincipalId: source.senderPrincipalId,
    issuedAt: header.issued_at,
    bodyDigest: header.body_digest,
  };
  if (interaction.type === 'request') {
    const { proposal } = interaction.body;
    const [debtor] = header.to;
    if (debtor === undefined || header.to.length !== 1) return undefined;
    return { ...common, kind: 'request', commitmentId: proposal.commitment_id, previous: '', proposal, debtor };
  }
  return { ...common, ...bindingOf(interaction) };
}

/** Decides one transition against what is known. Pure; the state is judged as of the instant the transition was issued. */
export function decideTransition(
  view: CommitmentView | undefined,
  transition: CommitmentTransition,
): { readonly ok: true; readonly to: CommitmentState } | TransitionRefusal {
  if (!view) {
    if (transition.kind === 'request') return { ok: true, to: 'proposed' };
    return refuse('commitment_unknown', `there is no commitment ${transition.commitmentId}`);
  }
  if (view.commitmentId !== transition.commitmentId) {
    return refuse('commitment_unknown', `${transition.commitmentId} is another commitment`);
  }
  const parties = partiesOf(view, transition);
  if (parties.length === 0)
    return refuse('commitment_wrong_party', `${transition.author} is no party of the commitment`);
  const fault = bindingFault(view, transition);
  if (fault) return refuse('commitment_wrong_digest', fault);
  const state = stateAt(view, transition.issuedAt);
  const rows = TRANSITION_TABLE.filter(({ from, kind }) => from === state && kind === transition.kind);
  if (rows.length === 0)
    return refuse('commitment_wrong_state', `${transition.kind} has no place in the state ${state}`);
  const row = rows.find(({ by }) => isAllowed(by, parties));
  if (!row)
    return refuse('commitment_wrong_party', `${transition.kind} is not for the ${parties.join(' and ')} to make`);
  // The chain is judged last: who may not act at all should hear that first.
  if ((view.heads[transition.author] ?? '') !== transition.previous) {
    return refuse('commitment_previous_mismatch', 'previous is not the head of the author in this commitment');
  }
  if (row.by === 'both' && !othersAsked(view, transition)) return { ok: true, to: view.baseState };
  return { ok: true, to: row.to };
}

/** The state at an instant: an active commitment past its deadline is overdue. */
export function stateAt(view: Pick<CommitmentView, 'baseState' | 'deadline'>, instant: string): CommitmentState {
  // Instants of the one spelling compare as text.
  const late = view.deadline !== undefined && instant > view.deadline;
  return view.baseState === 'active' && late ? 'overdue' : view.baseState;
}

function bindingOf(interaction: Exclude<Interaction, { type: 'message' | 'request' }>) {
  const { body } = interaction;
  const common = { commitmentId: body.commitment_id, previous: body.previous };
  if ('report_digest' in body) {
    const { report_message_id: reportMessageId, report_digest: reportDigest } = body;
    return { ...common, kind: 'accept_report' as const, reportMessageId, reportDigest };
  }
  const proposalDigest = body.proposal_digest;
  if ('summary' in body) {
    return { ...common, kind: 'report' as const, proposalDigest, summary: body.summary, evidence: body.evidence };
  }
  const bound = { ...common, proposalId: body.proposal_id, version: body.version, proposalDigest };
  if ('reason' in body) return { ...bound, kind: 'reject' as const, reason: body.reason };
  return { ...bound, kind: 'accept_proposal' as const };
}

/** The parts an author plays. The principal id decides: an address alone that was given to somebody else is no party. */
function partiesOf(view: CommitmentView, { author, authorPrincipalId }: CommitmentTransition): Party[] {
  const known = view.principals[author];
  if (known !== undefined && known !== authorPrincipalId) return [];
  const byParty = { creditor: view.creditor, debtor: view.debtor, resolver: view.resolver };
  return PARTIES.filter((party) => byParty[party] === author);
}

function isAllowed(by: Party | 'both', parties: readonly Party[]): boolean {
  if (by === 'both') return parties.includes('creditor') || parties.includes('debtor');
  return parties.includes(by);
}

function bindingFault(view: CommitmentView, transition: CommitmentTransition): string | undefined {
  switch (transition.kind) {
    case 'request':
      return undefined;
    case 'accept_proposal':
    case 'reject': {
      const same = transition.proposalId === view.proposal.proposal_id && transition.version === view.proposal.version;
      if (!same) return 'it names another proposal or version';
      return transition.proposalDigest === view.proposalDigest ? undefined : 'it names another proposal digest';
    }
    case 'accept_report':
    case 'dispute': {
      const report = view.reports.find(({ messageId }) => messageId === transition.reportMessageId);
      if (!report || report.digest !== transition.reportDigest) return 'it names no report of this commitment';
      // A newer report answers an older dispute; only the last one can still be disputed.
      const last = transition.kind === 'accept_report' || report === view.reports.at(-1);
      return last ? undefined : 'a newer report was made';
    }
    default:
      return transition.proposalDigest === view.proposalDigest ? undefined : 'it names another proposal digest';
  }
}

function othersAsked(view: CommitmentView, { author }: CommitmentTransition): boolean {
  const asked = new Set([...view.cancelAskedBy, author]);
  return asked.has(view.creditor) && asked.has(view.debtor);
}
