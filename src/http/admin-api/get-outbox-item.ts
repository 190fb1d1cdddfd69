// GET /admin/v1/outbox/{peer}/{message_id}
import { readOutboxEntry } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import { Problem } from '../../protocol/index.js';
import { type Endpoint, param } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { outboxView } from './outbox-view.js';

export function getOutboxItem({ db }: { db: { sql: Sql } }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/outbox/:peer/:message',
    async handle(ctx) {
      requireOperator(ctx);
      const entry = await readOutboxEntry(db.sql, param(ctx, 'message'));
      if (entry?.peer !== param(ctx, 'peer')) throw new Problem('not_found', 'there is no such message in the outbox');
      ctx.body = outboxView(entry);
    },
  };
}
