// The SQL of mailboxes. Positions are given under the mailbox's row lock, so that a reader by cursor never loses one.
import type { Sql, Tx } from '../../platform/index.js';
import type { DeliveryIdentity, ExistingMessage, MailboxMessage, NewMessage } from './mailbox-message.js';

export async function createMailbox(tx: Tx, home: string): Promise<void> {
  await tx`
    insert into home.mailboxes (home)
    values (${home})`;
}

/** Locks mailboxes, always in the order of their homes, and answers which there are. */
export async function lockMailboxRows(tx: Tx, homes: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx<{ home: string }[]>`
    select home
      from home.mailboxes
     where home = any(${[...homes]}::text[])
     order by home
       for update`;
  return new Set(rows.map(({ home }) => home));
}

/** Appends new messages to their mailboxes, which are locked, and answers their positions in the order given. */
export async function appendMessages(tx: Tx, messages: readonly NewMessage[]): Promise<number[]> {
  const rows = await tx<{ place: number; position: number }[]>`
    with given as (
      select g.*, m.last_position + row_number() over (partition by g.home order by g.place) as position
        from jsonb_to_recordset(${tx.json(messages.map(messageRow))})
             as g (place bigint, home text, direction text, origin_domain text, sender text, message_id text,
                   conversation_id text, interaction_type text, content_type text, header text, header_digest text,
                   body text, receipt_id text, input_id text)
        join home.mailboxes m on m.home = g.home
    ), advanced as (
      update home.mailboxes m
         set last_position = m.last_position + added.count
        from (select home, count(*) as count
                from given
               group by home) added
       where m.home = added.home
    ), appended as (
      insert into home.mailbox_messages
             (home, position, direction, origin_domain, sender, message_id, conversation_id, interaction_type,
              content_type, header, header_digest, body, receipt_id, input_id)
      select home, position, direction, origin_domain, sender, message_id, conversation_id, interaction_type,
             content_type, decode(header, 'base64'), header_digest, decode(body, 'base64'), receipt_id, input_id
        from given
    )
    select place, position
      from given
     order by place`;
  return rows.map(({ position }) => position);
}

function messageRow(message: NewMessage, place: number) {
  return {
    place,
    home: message.home,
    direction: message.direction,
    origin_domain: message.originDomain,
    sender: message.sender,
    message_id: message.messageId,
    conversation_id: message.conversationId ?? null,
    interaction_type: message.interactionType,
    content_type: message.contentType,
    header: base64Of(message.header),
    header_digest: message.headerDigest,
    body: base64Of(message.body),
    receipt_id: message.receiptId ?? null,
    input_id: message.inputId ?? null,
  };
}

/** JSON carries no bytes. */
function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** What is stored under these identities, by their place among them. */
export async function findMessages(
  sql: Sql,
  identities: readonly DeliveryIdentity[],
): Promise<ReadonlyMap<number, ExistingMessage>> {
  const given = identities.map(({ home, direction, originDomain, sender, messageId }, place) => ({
    place,
    home,
    direction,
    origin_domain: originDomain,
    sender,
    message_id: messageId,
  }));
  const rows = await sql<(ExistingMessage & { place: number })[]>`
    select g.place, m.position, m.header_digest, m.receipt_id, m.input_id
      from jsonb_to_recordset(${sql.json(given)})
           as g (place bigint, home text, direction text, origin_domain text, sender text, message_id text)
      join home.mailbox_messages m
        on m.home = g.home
       and m.direction = g.direction
       and m.origin_domain = g.origin_domain
       and m.sender = g.sender
       and m.message_id = g.message_id`;
  return new Map(rows.map(({ place, ...existing }) => [place, existing]));
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
