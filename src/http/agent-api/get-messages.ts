// GET /v1/messages?after=: a mailbox by cursor, the caller's own or that of an agent that it may see.
import { z } from 'zod';
import { listMessages } from '../../home/index.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { pageLimit, position } from '../page.js';
import { type Access, readableHome } from './access.js';
import { messageView } from './message-view.js';

const query = z.strictObject({ after: position.optional(), limit: pageLimit, agent: z.string().max(255).optional() });

export function getMessages(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/messages',
    takes: { query },
    async handle(ctx) {
      const { after, limit, agent } = queryOf(ctx, query);
      const home = await readableHome(access, callerOf(ctx), agent);
      const page = await listMessages(access.db.sql, home, { after, limit });
      ctx.body = { items: page.messages.map(messageView), cursor: page.next, last: page.last };
    },
  };
}
