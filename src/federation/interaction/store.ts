// The SQL of what `prev` names.
import type { Sql, Tx } from '../../platform/index.js';
import type { Domain, MessageId } from '../../protocol/index.js';

export interface ConversationHead {
  home: string;
  conversationId: string;
  destination: Domain;
}

/** The last message sent in each conversation to its destination; before the first there is none. */
export function readHeads(
  sql: Sql,
  heads: readonly ConversationHead[],
): Promise<(ConversationHead & { lastMessageId: MessageId })[]> {
  return sql<(ConversationHead & { lastMessageId: MessageId })[]>`
    select h.home, h.conversation_id, h.destination, h.last_message_id
      from (select distinct home, conversation_id, destination
              from jsonb_to_recordset(${sql.json(heads.map(headRow))})
                   as g (home text, conversation_id text, destination text)) g
      join federation.conversation_heads h
        on h.home = g.home
       and h.conversation_id = g.conversation_id
       and h.destination = g.destination`;
}

export interface MoveHead extends ConversationHead {
  from: string;
  to: string;
}

/** Moves each head from the message that was read to the new one; answers the new ones of the heads that were so still. */
export async function moveHeads(tx: Tx, moves: readonly MoveHead[]): Promise<ReadonlySet<string>> {
  const rows = await tx<{ to: string }[]>`
    with given as (
      select *
        from jsonb_to_recordset(${tx.json(moves.map((move) => ({ ...headRow(move), from: move.from, to: move.to })))})
             as g (home text, conversation_id text, destination text, "from" text, "to" text)
    ), opened as (
      insert into federation.conversation_heads (home, conversation_id, destination, last_message_id)
      select home, conversation_id, destination, "to"
        from given
       where "from" = ''
       order by home, conversation_id, destination
      on conflict (home, conversation_id, destination) do nothing
      returning last_message_id
    ), moved as (
      update federation.conversation_heads h
         set last_message_id = g."to"
        from given g
       where h.home = g.home
         and h.conversation_id = g.conversation_id
         and h.destination = g.destination
         and h.last_message_id = g."from"
      returning h.last_message_id
    )
    select last_message_id as "to"
      from opened
     union all
    select last_message_id
      from moved`;
  return new Set(rows.map((row) => row.to));
}

function headRow({ home, conversationId, destination }: ConversationHead) {
  return { home, conversation_id: conversationId, destination };
}
