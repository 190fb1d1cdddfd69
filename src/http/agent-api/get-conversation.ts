// GET /v1/conversations/{id}: a conversation as one principal of ours sees it, its messages in pages, the oldest first;
// nothing of a session is in it (D3).
import { z } from 'zod';
import { readConversation, readConversationMessages } from '../../home/index.js';
import { formatInstant, Problem } from '../../protocol/index.js';
import { callerOf, type Endpoint, param } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { listOf, numberAt, pageOf, pageQuery } from '../page.js';
import { type Access, readableHome } from './access.js';
import { messageView } from './message-view.js';

const query = pageQuery.extend({ agent: z.string().max(255).optional() });

export function getConversation(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/conversations/:id',
    takes: { query },
    async handle(ctx) {
      const { sql } = access.db;
      const asked = queryOf(ctx, query);
      const home = await readableHome(access, callerOf(ctx), asked.agent);
      const conversation = await readConversation(sql, home, param(ctx, 'id'));
      if (!conversation) throw new Problem('not_found', 'there is no such conversation');
      const { conversationId, createdBy, creatingDomain, participants, createdAt } = conversation;
      const list = listOf(ctx, asked);
      const after = numberAt(list.from) ?? 0;
      const found = await readConversationMessages(sql, home, { conversationId, after, limit: list.limit + 1 });
      const { items, next_cursor } = pageOf(list, found, (message) => [message.position]);
      ctx.body = {
        conversation_id: conversationId,
        created_by: createdBy,
        creating_domain: creatingDomain,
        created_at: formatInstant(createdAt),
        participants,
        messages: items.map(messageView),
        next_cursor,
      };
    },
  };
}
