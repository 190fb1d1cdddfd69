// GET /v1/schedules: the schedules of one agent.
import { z } from 'zod';
import { selectSchedules } from '../../foundation/index.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { listOf, pageOf, pageQuery, textAt } from '../page.js';
import { type Access, requireAgent } from './access.js';
import { scheduleView } from './schedule-view.js';

const query = pageQuery.extend({
  agent: z.string().max(255),
  status: z.enum(['active', 'ended', 'cancelled']).optional(),
});

export function getSchedules(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/schedules',
    takes: { query },
    async handle(ctx) {
      const asked = queryOf(ctx, query);
      const { principal } = await requireAgent(access, callerOf(ctx), asked.agent);
      const list = listOf(ctx, asked);
      const found = await selectSchedules(access.db.sql, {
        home: principal.home,
        status: asked.status,
        after: textAt(list.from) ?? '',
        limit: list.limit + 1,
      });
      const page = pageOf(list, found, ({ id }) => [id]);
      ctx.body = { ...page, items: page.items.map((schedule) => scheduleView(schedule, principal.address)) };
    },
  };
}
