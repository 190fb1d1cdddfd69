// GET /admin/v1/credentials
import { listCredentials } from '../../home/index.js';
import type { Sql } from '../../platform/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { listOf, pageOf, pageQuery, textAt } from '../page.js';
import { credentialView } from './credential-view.js';

export function getCredentials({ db }: { db: { sql: Sql } }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/credentials',
    takes: { query: pageQuery },
    async handle(ctx) {
      requireOperator(ctx);
      const list = listOf(ctx, queryOf(ctx, pageQuery));
      const found = await listCredentials(db.sql, { after: textAt(list.from), limit: list.limit + 1 });
      const page = pageOf(list, found, (credential) => [credential.id]);
      ctx.body = {
        ...page,
        items: await Promise.all(page.items.map((credential) => credentialView(db.sql, credential))),
      };
    },
  };
}
