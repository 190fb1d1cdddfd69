// GET /v1/conversations/{id}: a conversation as one principal of ours sees it; nothing of a session is in it (D3).
import { z } from 'zod';
import { readConversation, readConversationMessages } from '../../home/index.js';
import { formatInstant, Problem } from '../../protocol/index.js';
import { callerOf, type Endpoint, param } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { type Access, readableHome } from './access.js';
import { messageView } from './message-view.js';

const query = z.strictObject({ agent: z.string().max(255).optional() });
const shownMessages = 200;

export function getConversation(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/conversations/:id',
    takes: { query },
    async handle(ctx) {
      const { sql } = access.db;
      const home = await readableHome(access, callerOf(ctx), queryOf(ctx, query).agent);
      const conversation = await readConversation(sql, home, param(ctx, 'id'));
      if (!conversation) throw new Problem('not_found', 'there is no such conversation');
      const { conversationId, createdBy, creatingDomain, participants, createdAt } = conversation;
      const messages = await readConversationMessages(sql, home, { conversationId, after: 0, limit: shownMessages });
      ctx.body = {
        conversation_id: conversationId,
        created_by: createdBy,
        creating_domain: creatingDomain,
        created_at: formatInstant(createdAt),
        participants,
        messages: messages.map(messageView),
      };
    },
  };
}
