// GET /admin/v1/outbox?peer=&status=
import { z } from 'zod';
import { listOutbox } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import { domainSchema } from '../../protocol/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { listOf, numberAt, pageOf, pageQuery, textAt } from '../page.js';
import { outboxView } from './outbox-view.js';

const query = pageQuery.extend({
  peer: domainSchema.optional(),
  status: z.enum(['queued', 'delivered', 'parked', 'rejected', 'dead']).optional(),
});

export function getOutbox({ db }: { db: { sql: Sql } }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/outbox',
    takes: { query },
    async handle(ctx) {
      requireOperator(ctx);
      const asked = queryOf(ctx, query);
      const list = listOf(ctx, asked);
      const { peer, status } = asked;
      const after = list.from && { peer: textAt(list.from) ?? '', position: numberAt(list.from, 1) ?? 0 };
      const found = await listOutbox(db.sql, { peer, status, after, limit: list.limit + 1 });
      const page = pageOf(list, found, (entry) => [entry.peer, entry.position]);
      ctx.body = { ...page, items: page.items.map(outboxView) };
    },
  };
}
