// GET /v1/audit: who decided what about the caller, or about an agent that it may see; the newest first.
import { z } from 'zod';
import { type AuditRecord, listAudit } from '../../foundation/index.js';
import { formatInstant } from '../../protocol/index.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { listOf, timedQuery } from '../page.js';
import { rangeOf, timedPage, timeFilter, timesOf } from '../timed-list.js';
import { type Access, readableHome } from './access.js';

const query = timedQuery.extend({
  agent: z.string().max(255).optional(),
  action: z.string().max(128).optional(),
  object: z.string().max(320).optional(),
  ...timeFilter,
});

export function getAudit(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/audit',
    takes: { query },
    async handle(ctx) {
      const asked = queryOf(ctx, query);
      const home = await readableHome(access, callerOf(ctx), asked.agent);
      const list = listOf(ctx, asked);
      const { action, object } = asked;
      const filters = { action, object, ...timesOf(asked) };
      const page = timedPage(list, await listAudit(access.db.sql, { home, ...filters, range: rangeOf(list) }));
      ctx.body = { ...page, items: page.items.map(auditView) };
    },
  };
}

function auditView({ id, at, actor, action, object, outcome, details }: AuditRecord): object {
  return { id, at: formatInstant(at), actor, action, object, outcome, details };
}
