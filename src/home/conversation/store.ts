// The SQL of conversations.
import type { Sql, Tx } from '../../platform/index.js';
import type { Conversation, RememberConversation } from './conversation.js';

// A page of any list; a conversation with more participants is read in part.
const mostParticipants = 1_000;

/** Idempotent: what is known stays, new participants are added. */
export async function rememberConversation(tx: Tx, conversation: RememberConversation): Promise<void> {
  await tx`
    insert into home.conversations (home, conversation_id, created_by, creating_domain)
    values (${conversation.home}, ${conversation.conversationId}, ${conversation.createdBy},
            ${conversation.creatingDomain})
        on conflict do nothing`;
  // In one order, so that two messages that name the same participants never lock each other out.
  const participants = [...new Set(conversation.participants)].sort();
  if (participants.length === 0) return;
  await tx`
    insert into home.conversation_participants (home, conversation_id, participant)
    select ${conversation.home}, ${conversation.conversationId}, participant
      from unnest(${participants}::text[]) as given (participant)
     order by participant
        on conflict do nothing`;
}

export async function readConversation(
  sql: Sql,
  home: string,
  conversationId: string,
): Promise<Conversation | undefined> {
  const [row] = await sql<Conversation[]>`
    select c.home, c.conversation_id, c.created_by, c.creating_domain, c.created_at,
           array(select p.participant
                   from home.conversation_participants p
                  where p.home = c.home
                    and p.conversation_id = c.conversation_id
                  order by p.participant
                  limit ${mostParticipants}) as participants
      from home.conversations c
     where c.home = ${home}
       and c.conversation_id = ${conversationId}`;
  return row;
}
