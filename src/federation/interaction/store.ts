// The SQL of interactions and of what `prev` names.
import type { Sql, Tx } from '../../platform/index.js';
import type { Domain, MessageId } from '../../protocol/index.js';

export interface InteractionRow {
  home: string;
  messageId: string;
  direction: 'in' | 'out';
  interactionType: string;
  sender: string;
  recipients: string[];
  conversationId: string;
  correlationId: string | null;
  causationId: string | null;
  commitmentId: string | null;
  effectId: string | null;
  bodyDigest: string;
  prev: string;
  issuedAt: Date;
}

export async function insertInteraction(tx: Tx, row: InteractionRow): Promise<void> {
  await tx`
    insert into federation.interactions (home, message_id, direction, interaction_type, sender, recipients,
           conversation_id, correlation_id, causation_id, commitment_id, effect_id, body_digest, prev, issued_at)
    values (${row.home}, ${row.messageId}, ${row.direction}, ${row.interactionType}, ${row.sender}, ${row.recipients},
            ${row.conversationId}, ${row.correlationId}, ${row.causationId}, ${row.commitmentId}, ${row.effectId},
            ${row.bodyDigest}, ${row.prev}, ${row.issuedAt})
    on conflict (home, direction, sender, message_id) do nothing`;
}

export interface ConversationHead {
  home: string;
  conversationId: string;
  destination: Domain;
}

/** The last message sent in a conversation to a destination; empty before the first. */
export async function readHead(sql: Sql, head: ConversationHead): Promise<MessageId | ''> {
  const [row] = await sql<{ lastMessageId: MessageId }[]>`
    select last_message_id
      from federation.conversation_heads
     where home = ${head.home}
       and conversation_id = ${head.conversationId}
       and destination = ${head.destination}`;
  return row?.lastMessageId ?? '';
}

/** Moves the head from the message that was read to the new one; false when another message came between. */
export async function moveHead(
  tx: Tx,
  head: ConversationHead,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const rows = await tx`
    insert into federation.conversation_heads as h (home, conversation_id, destination, last_message_id)
    select ${head.home}::text, ${head.conversationId}::text, ${head.destination}::text, ${to}::text
     where ${from}::text = ''
    on conflict (home, conversation_id, destination) do nothing
    returning 1`;
  if (rows.length === 1) return true;
  const moved = await tx`
    update federation.conversation_heads
       set last_message_id = ${to}
     where home = ${head.home}
       and conversation_id = ${head.conversationId}
       and destination = ${head.destination}
       and last_message_id = ${from}
    returning 1`;
  return moved.length === 1;
}
