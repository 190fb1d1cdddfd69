// The SQL of conversations.
import type { Sql, Tx } from '../../platform/index.js';
import type { Conversation, RememberConversation } from './conversation.js';

// A page of any list; a conversation with more participants is read in part.
const mostParticipants = 1_000;

export function rememberConversation(tx: Tx, conversation: RememberConversation): Promise<void> {
  return rememberConversations(tx, [conversation]);
}

/** Idempotent: what is known stays, new participants are added. */
export async function rememberConversations(tx: Tx, conversations: readonly RememberConversation[]): Promise<void> {
  if (conversations.length === 0) return;
  const rows = conversations.map(({ home, conversationId, createdBy, creatingDomain, participants }) => ({
    home,
    conversation_id: conversationId,
    created_by: createdBy,
    creating_domain: creatingDomain,
    participants: [...participants],
  }));
  // In one order, so that two messages that name the same ones never lock each other out.
  await tx`
    insert into home.conversations (home, conversation_id, created_by, creating_domain)
    select home, conversation_id, created_by, creating_domain
      from jsonb_to_recordset(${tx.json(rows)})
           as c (home text, conversation_id text, created_by text, creating_domain text)
     order by home, conversation_id
        on conflict do nothing`;
  await tx`
    insert into home.conversation_participants (home, conversation_id, participant)
    select distinct c.home, c.conversation_id, participant
      from jsonb_to_recordset(${tx.json(rows)}) as c (home text, conversation_id text, participants text[]),
           unnest(c.participants) as participant
     order by 1, 2, 3
        on conflict do nothing`;
}

export async function readConversation(
  sql: Sql,
  home: string,
  conversationId: string,
): Promise<Conversation | undefined> {
  const [conversation] = await readConversations(sql, [{ home, conversationId }]);
  return conversation;
}

export async function readConversations(
  sql: Sql,
  keys: readonly { home: string; conversationId: string }[],
): Promise<Conversation[]> {
  if (keys.length === 0) return [];
  const given = keys.map(({ home, conversationId }) => ({ home, conversation_id: conversationId }));
  return sql<Conversation[]>`
    select c.home, c.conversation_id, c.created_by, c.creating_domain, c.created_at,
           array(select p.participant
                   from home.conversation_participants p
                  where p.home = c.home
                    and p.conversation_id = c.conversation_id
                  order by p.participant
                  limit ${mostParticipants}) as participants
      from (select distinct home, conversation_id
              from jsonb_to_recordset(${sql.json(given)}) as g (home text, conversation_id text)) g
      join home.conversations c on c.home = g.home and c.conversation_id = g.conversation_id`;
}
