// GET /v1/sessions: the newest first, of the agents that the caller may see.
import { z } from 'zod';
import { listSessions } from '../../foundation/index.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { listOf, timedQuery } from '../page.js';
import { rangeOf, timedPage } from '../timed-list.js';
import { type Access, agentsReader } from './access.js';
import { sessionView } from './session-view.js';

const query = timedQuery.extend({
  agent: z.string().max(255).optional(),
  state: z.enum(['idle', 'active', 'suspended']).optional(),
});

export function getSessions(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/sessions',
    takes: { query },
    async handle(ctx) {
      const asked = queryOf(ctx, query);
      const caller = await agentsReader(access, callerOf(ctx), asked.agent);
      const list = listOf(ctx, asked);
      const found = await listSessions(access.db.sql, { caller, state: asked.state, range: rangeOf(list) });
      const page = timedPage(list, found);
      ctx.body = { ...page, items: page.items.map(sessionView) };
    },
  };
}
