// A mailbox message as the agent API shows it: the body parsed when it is JSON, else as text when it is that.
import type { MailboxMessage } from '../../home/index.js';
import { formatInstant, fromUtf8, type JsonValue, Problem, parseStrictJson } from '../../protocol/index.js';

const shownBytes = 5 * 1024 * 1024;

export function messageView(message: MailboxMessage): object {
  return {
    position: message.position,
    direction: message.direction,
    origin_domain: message.originDomain,
    sender: message.sender,
    message_id: message.messageId,
    conversation_id: message.conversationId,
    interaction_type: message.interactionType,
    content_type: message.contentType,
    body: bodyOf(message),
    header_digest: message.headerDigest,
    stored_at: formatInstant(message.storedAt),
    input_id: message.inputId,
    receipt_id: message.receiptId,
  };
}

/** Null for bytes that cannot be shown as JSON or text; the mailbox keeps them as they came. */
function bodyOf({ contentType, body }: MailboxMessage): JsonValue {
  const [mediaType = ''] = contentType.split(';', 1);
  if (mediaType.endsWith('/json') || mediaType.endsWith('+json')) return jsonOf(body);
  return mediaType.startsWith('text/') ? (fromUtf8(body) ?? null) : null;
}

function jsonOf(body: Uint8Array): JsonValue {
  try {
    return parseStrictJson(body, { maxBytes: shownBytes });
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}
