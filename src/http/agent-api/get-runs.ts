// GET /v1/runs: the newest first, of the agents that the caller may see, by agent, status, session and time.
import { z } from 'zod';
import { listRuns, runStatuses } from '../../foundation/index.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { listOf, timedQuery } from '../page.js';
import { rangeOf, timedPage, timeFilter, timesOf } from '../timed-list.js';
import { type Access, addressesOf, agentsReader } from './access.js';
import { runView } from './run-view.js';

const query = timedQuery.extend({
  agent: z.string().max(255).optional(),
  status: z.enum(runStatuses).optional(),
  session: z.string().max(320).optional(),
  ...timeFilter,
});

export function getRuns(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/runs',
    takes: { query },
    async handle(ctx) {
      const asked = queryOf(ctx, query);
      const caller = await agentsReader(access, callerOf(ctx), asked.agent);
      const list = listOf(ctx, asked);
      const found = await listRuns(access.db.sql, {
        caller,
        status: asked.status,
        sessionId: asked.session,
        ...timesOf(asked),
        range: rangeOf(list),
      });
      const page = timedPage(list, found);
      const agents = await addressesOf(
        access,
        page.items.map((run) => run.home),
      );
      ctx.body = { ...page, items: page.items.map((run) => runView(run, agents.get(run.home) ?? '')) };
    },
  };
}
