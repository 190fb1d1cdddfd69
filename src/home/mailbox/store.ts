// The SQL of mailboxes. Positions are given under the mailbox's row lock, so that a reader by cursor never loses one.
import type { Sql, Tx } from '../../platform/index.js';
import type { DeliveryIdentity, ExistingMessage, MailboxMessage, NewMessage } from './mailbox-message.js';

export async function createMailbox(tx: Tx, home: string): Promise<void> {
  await tx`
    insert into home.mailboxes (home)
    values (${home})`;
}

/** Locks the mailbox and answers the last position given; undefined when there is no such mailbox. */
export async function lockMailbox(tx: Tx, home: string): Promise<number | undefined> {
  const [row] = await tx<{ lastPosition: number }[]>`
    select last_position
      from home.mailboxes
     where home = ${home}
       for update`;
  return row?.lastPosition;
}

/** False when the delivery identity is already there. */
export async function insertMessage(tx: Tx, message: NewMessage, position: number): Promise<boolean> {
  const rows = await tx`
    insert into home.mailbox_messages
           (home, position, direction, origin_domain, sender, message_id, conversation_id, interaction_type,
            content_type, header, header_digest, body, receipt_id, input_id)
    values (${message.home}, ${position}, ${message.direction}, ${message.originDomain}, ${message.sender},
            ${message.messageId}, ${message.conversationId ?? null}, ${message.interactionType},
            ${message.contentType}, ${message.header}, ${message.headerDigest}, ${message.body},
            ${message.receiptId ?? null}, ${message.inputId ?? null})
        on conflict on constraint mailbox_messages_tuple_unique do nothing
    returning 1`;
  return rows.length === 1;
}

export async function advanceMailbox(tx: Tx, home: string, position: number): Promise<void> {
  await tx`
    update home.mailboxes
       set last_position = ${position}
     where home = ${home}`;
}

export async function findMessage(sql: Sql, identity: DeliveryIdentity): Promise<ExistingMessage | undefined> {
  const [row] = await sql<ExistingMessage[]>`
    select position, header_digest, receipt_id, input_id
      from home.mailbox_messages
     where home = ${identity.home}
       and direction = ${identity.direction}
       and origin_domain = ${identity.originDomain}
       and sender = ${identity.sender}
       and message_id = ${identity.messageId}`;
  return row;
}

/** Notes which input a stored message became; once. */
export async function linkMessageInput(
  tx: Tx,
  link: { home: string; position: number; inputId: string },
): Promise<void> {
  await tx`
    update home.mailbox_messages
       set input_id = ${link.inputId}
     where home = ${link.home}
       and position = ${link.position}
       and input_id is null`;
}

export async function readMailboxHead(sql: Sql, home: string): Promise<number | undefined> {
  const [row] = await sql<{ lastPosition: number }[]>`
    select last_position
      from home.mailboxes
     where home = ${home}`;
  return row?.lastPosition;
}

export async function readMessagesAfter(
  sql: Sql,
  home: string,
  { after, limit }: { after: number; limit: number },
): Promise<MailboxMessage[]> {
  return sql<MailboxMessage[]>`
    select home, position, direction, origin_domain, sender, message_id, conversation_id, interaction_type,
           content_type, header, header_digest, body, receipt_id, input_id, stored_at
      from home.mailbox_messages
     where home = ${home}
       and position > ${after}
     order by position
     limit ${limit}`;
}

export async function readConversationMessages(
  sql: Sql,
  home: string,
  { conversationId, after, limit }: { conversationId: string; after: number; limit: number },
): Promise<MailboxMessage[]> {
  return sql<MailboxMessage[]>`
    select home, position, direction, origin_domain, sender, message_id, conversation_id, interaction_type,
           content_type, header, header_digest, body, receipt_id, input_id, stored_at
      from home.mailbox_messages
     where home = ${home}
       and conversation_id = ${conversationId}
       and position > ${after}
     order by position
     limit ${limit}`;
}
