// GET /admin/v1/sources: service principals, with how they may post webhooks.
import { listPrincipals, readAdapters } from '../../home/index.js';
import type { Sql } from '../../platform/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { listOf, pageOf, pageQuery, textAt } from '../page.js';
import type { DoorUrls } from './get-domain.js';
import { webhookUrl } from './post-source.js';
import { nameOf, principalView } from './principal-view.js';

export function getSources({ db, urls }: { db: { sql: Sql }; urls: () => DoorUrls }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/sources',
    takes: { query: pageQuery },
    async handle(ctx) {
      requireOperator(ctx);
      const list = listOf(ctx, queryOf(ctx, pageQuery));
      const found = await listPrincipals(db.sql, { kind: 'service', after: textAt(list.from), limit: list.limit + 1 });
      const page = pageOf(list, found, (principal) => [principal.address]);
      const homes = page.items.map((principal) => principal.home);
      const webhooks = new Map<string, string>(
        (await readAdapters(db.sql, homes)).map(({ home, adapter }) => [home, adapter]),
      );
      ctx.body = {
        ...page,
        items: page.items.map((principal) => {
          const adapter = webhooks.get(principal.home);
          const webhook = adapter && { adapter, url: webhookUrl(urls(), adapter, nameOf(principal.address)) };
          return { ...principalView(principal), webhook: webhook ?? null };
        }),
      };
    },
  };
}
