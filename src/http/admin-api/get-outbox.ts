// GET /admin/v1/outbox?peer=&status=
import { z } from 'zod';
import { listOutbox } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import { domainSchema, Problem } from '../../protocol/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { decodeCursor, pageOf, pageQuery } from '../page.js';
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
      const { peer, status, limit, cursor } = queryOf(ctx, query);
      const found = await listOutbox(db.sql, { peer, status, after: placeOf(decodeCursor(cursor)), limit: limit + 1 });
      const page = pageOf(found, limit, (entry) => `${entry.peer} ${entry.position}`);
      ctx.body = { ...page, items: page.items.map(outboxView) };
    },
  };
}

function placeOf(key: string | undefined): { peer: string; position: number } | undefined {
  if (key === undefined) return undefined;
  const [peer = '', position = ''] = key.split(' ');
  if (!/^[0-9]{1,15}$/.test(position)) throw new Problem('schema_invalid', 'cursor: not one that was given out here');
  return { peer, position: Number(position) };
}
