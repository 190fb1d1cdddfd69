// GET /admin/v1/directory: every principal of this domain, hidden ones too.
import { listPrincipals } from '../../home/index.js';
import type { Sql } from '../../platform/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { listOf, pageOf, pageQuery, textAt } from '../page.js';
import { principalView } from './principal-view.js';

export function getAdminDirectory({ db }: { db: { sql: Sql } }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/directory',
    takes: { query: pageQuery },
    async handle(ctx) {
      requireOperator(ctx);
      const list = listOf(ctx, queryOf(ctx, pageQuery));
      const found = await listPrincipals(db.sql, { after: textAt(list.from), limit: list.limit + 1 });
      const page = pageOf(list, found, (principal) => [principal.address]);
      ctx.body = { ...page, items: page.items.map(principalView) };
    },
  };
}
