// A commitment as the agent API shows it: our own assessment, and the signed log that it follows from.
import type { CommitmentRow, StoredTransition } from '../../federation/index.js';
import { digestOf, formatInstant } from '../../protocol/index.js';

export function commitmentView(row: CommitmentRow): object {
  return {
    commitment_id: row.commitmentId,
    conversation_id: row.conversationId,
    debtor: row.debtor,
    creditor: row.creditor,
    proposal_id: row.proposalId,
    proposal_version: row.proposalVersion,
    proposal_digest: row.proposalDigest,
    content: row.content,
    deadline: row.deadline ? formatInstant(row.deadline) : null,
    local_assessment: row.localAssessment,
    transition_count: row.transitionCount,
    created_at: formatInstant(row.createdAt),
    updated_at: formatInstant(row.updatedAt),
  };
}

export function transitionView({
  position,
  kind,
  author,
  messageId,
  header,
  body,
  storedAt,
}: StoredTransition): object {
  return {
    position,
    kind,
    author,
    message_id: messageId,
    digest: digestOf(header),
    body_digest: digestOf(body),
    stored_at: formatInstant(storedAt),
  };
}
