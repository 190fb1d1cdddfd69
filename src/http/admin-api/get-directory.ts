// GET /admin/v1/directory: every principal of this domain, hidden ones too.
import { listPrincipals } from '../../home/index.js';
import type { Sql } from '../../platform/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { decodeCursor, pageOf, pageQuery } from '../page.js';
import { principalView } from './principal-view.js';

export function getAdminDirectory({ db }: { db: { sql: Sql } }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/directory',
    takes: { query: pageQuery },
    async handle(ctx) {
      requireOperator(ctx);
      const { limit, cursor } = queryOf(ctx, pageQuery);
      const found = await listPrincipals(db.sql, { after: decodeCursor(cursor), limit: limit + 1 });
      const page = pageOf(found, limit, (principal) => principal.address);
      ctx.body = { ...page, items: page.items.map(principalView) };
    },
  };
}
