/**
 * Turns what somebody wants to say into the exact body that binds it: an accept names the id, version and digest of the
 * request as stored here, a report's evidence carries digests computed here, each transition names the one before.
 */
import {
  type Address,
  type CommitmentId,
  type CommitmentView,
  type Digest,
  digestOf,
  type Evidence,
  formatInstant,
  type Id,
  type Interaction,
  isDigest,
  isId,
  mintingDomainOf,
  type Refusal,
  refuse,
  toUtf8,
} from '../../protocol/index.js';
import type { EvidenceInput, ProposedInteraction } from './interaction-proposal.js';

export type ComposeRefusal = Refusal<
  'proposal_invalid' | 'commitment_unknown' | 'commitment_wrong_party' | 'commitment_wrong_state' | 'report_unknown'
>;

export interface ComposeFacts {
  author: Address;
  /** The commitment as held by the author; undefined when there is none. */
  view: CommitmentView | undefined;
  /** Ids for what this interaction opens. */
  minted: { proposalId: Id<'prop'>; commitmentId: CommitmentId };
  now: Date;
}

export function composeInteraction(
  proposed: ProposedInteraction,
  facts: ComposeFacts,
): { ok: true; interaction: Interaction } | ComposeRefusal {
  if (proposed.type === 'message') return { ok: true, interaction: messageOf(proposed) };
  if (proposed.type === 'request') {
    const id = proposed.input.commitment_id ?? facts.minted.commitmentId;
    const ours = mintingDomainOf(id) === mintingDomainOf(facts.minted.commitmentId);
    if (!ours) return refuse('proposal_invalid', 'a commitment id is minted by the domain of who asks');
    return { ok: true, interaction: requestOf(proposed, facts) };
  }
  const { view, author } = facts;
  if (!view) return refuse('commitment_unknown', `there is no commitment ${proposed.input.commitment_id}`);
  const other = author === view.creditor ? view.debtor : view.creditor;
  if (proposed.recipient !== other) return refuse('commitment_wrong_party', `the other party is ${other}`);
  const previous: Digest | '' = view.heads[author] ?? '';
  switch (proposed.type) {
    case 'accept':
      return acceptOf(proposed, { view, author, previous });
    case 'reject':
      return {
        ok: true,
        interaction: { type: 'reject', body: { ...bindingOf(view), reason: proposed.input.reason ?? '', previous } },
      };
    case 'report':
      return reportOf(proposed, view, previous);
  }
}

/** The commitment that a proposed interaction names. */
export function commitmentOf(proposed: ProposedInteraction): CommitmentId | undefined {
  return proposed.type === 'message' ? undefined : proposed.input.commitment_id;
}

type Proposed<Type extends ProposedInteraction['type']> = Extract<ProposedInteraction, { type: Type }>;

function messageOf({ input }: Proposed<'message'>): Interaction {
  const { text, data } = input;
  return { type: 'message', body: { text, ...(data === undefined ? {} : { data }) } };
}

function requestOf({ input }: Proposed<'request'>, { minted, now }: ComposeFacts): Interaction {
  const { conversation_id, in_reply_to, correlation_id, expires_in_s, deadline_in_s, ...said } = input;
  const deadline =
    deadline_in_s === undefined ? undefined : formatInstant(new Date(now.getTime() + deadline_in_s * 1_000));
  return {
    type: 'request',
    body: {
      proposal: {
        ...(deadline === undefined ? {} : { deadline }),
        ...said,
        proposal_id: said.proposal_id ?? minted.proposalId,
        commitment_id: said.commitment_id ?? minted.commitmentId,
        version: said.version ?? 1,
      },
    },
  };
}

type Accepting = { view: CommitmentView; author: Address; previous: Digest | '' };

/** Without a word about what is accepted, the debtor accepts the proposal and the creditor the last report. */
function acceptOf(
  { input }: Proposed<'accept'>,
  { view, author, previous }: Accepting,
): { ok: true; interaction: Interaction } | ComposeRefusal {
  const accepts = input.accepts ?? (author === view.debtor ? 'proposal' : 'report');
  if (accepts === 'proposal') {
    return { ok: true, interaction: { type: 'accept', body: { accepts, ...bindingOf(view), previous } } };
  }
  const wanted = input.report_message_id;
  const report =
    wanted === undefined ? view.reports.at(-1) : view.reports.find(({ messageId }) => messageId === wanted);
  if (!report) return refuse('report_unknown', 'there is no such report to accept');
  return {
    ok: true,
    interaction: {
      type: 'accept',
      body: {
        accepts,
        commitment_id: view.commitmentId,
        report_message_id: report.messageId,
        report_digest: report.digest,
        previous,
      },
    },
  };
}

function bindingOf(view: CommitmentView) {
  return {
    commitment_id: view.commitmentId,
    proposal_id: view.proposal.proposal_id,
    version: view.proposal.version,
    proposal_digest: view.proposalDigest,
  };
}

function reportOf(
  { input }: Proposed<'report'>,
  view: CommitmentView,
  previous: Digest | '',
): { ok: true; interaction: Interaction } | ComposeRefusal {
  const evidence: Evidence[] = [];
  for (const item of input.evidence ?? []) {
    const digest = digestOfEvidence(item);
    if (digest === undefined)
      return refuse('proposal_invalid', `evidence ${item.name} needs its content or its digest`);
    const { name, content } = item;
    const content_type = item.content_type ?? 'text/plain';
    evidence.push({ name, digest, content_type, ...(content === undefined ? {} : { content }) });
  }
  const missing = view.proposal.evidence_policy?.required_artifacts.find(
    (name) => !evidence.some((item) => item.name === name),
  );
  if (missing !== undefined) return refuse('proposal_invalid', `the request asks for the evidence ${missing}`);
  const { commitmentId, proposalDigest } = view;
  return {
    ok: true,
    interaction: {
      type: 'report',
      body: {
        commitment_id: commitmentId,
        proposal_digest: proposalDigest,
        summary: input.summary,
        evidence,
        previous,
      },
    },
  };
}

function digestOfEvidence({ content, digest }: EvidenceInput): Digest | undefined {
  if (content !== undefined) return digestOf(toUtf8(content));
  return digest !== undefined && isDigest(digest) ? digest : undefined;
}

export function isConversation(text: string | undefined): text is Id<'conv'> {
  return text !== undefined && isId('conv', text);
}
