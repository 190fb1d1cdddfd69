// An outbox item as the admin API shows it: where it stands, never what it says.
import type { OutboxEntry } from '../../federation/index.js';
import { formatInstant } from '../../protocol/index.js';

export function outboxView(entry: OutboxEntry): object {
  return {
    peer: entry.peer,
    position: entry.position,
    message_id: entry.messageId,
    sender: entry.sender,
    recipients: entry.recipients,
    conversation_id: entry.conversationId,
    effect_id: entry.effectId,
    status: entry.status,
    attempt: entry.attempt,
    reason_code: entry.reasonCode,
    queued_at: formatInstant(entry.queuedAt),
    expires_at: formatInstant(entry.deadAt),
    settled_at: entry.settledAt ? formatInstant(entry.settledAt) : null,
  };
}
