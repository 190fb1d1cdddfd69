// GET /admin/v1/sources: service principals, with how they may post webhooks.
import { listPrincipals, listWebhookSources } from '../../home/index.js';
import type { Sql } from '../../platform/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { decodeCursor, pageOf, pageQuery } from '../page.js';
import type { DoorUrls } from './get-domain.js';
import { webhookUrl } from './post-source.js';
import { nameOf, principalView } from './principal-view.js';

export function getSources({ db, urls }: { db: { sql: Sql }; urls: () => DoorUrls }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/sources',
    async handle(ctx) {
      requireOperator(ctx);
      const { limit, cursor } = queryOf(ctx, pageQuery);
      const found = await listPrincipals(db.sql, { kind: 'service', after: decodeCursor(cursor), limit: limit + 1 });
      const page = pageOf(found, limit, (principal) => principal.address);
      const webhooks = await webhooksOf(
        db.sql,
        page.items.map((principal) => nameOf(principal.address)),
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

/** Adapters by home, of the webhook sources between the first and the last of these names. */
async function webhooksOf(sql: Sql, names: readonly string[]): Promise<Map<string, string>> {
  const sorted = [...names].sort();
  const [first] = sorted;
  if (first === undefined) return new Map();
  // A page of principals is a range of names, and a webhook source is named as its principal is.
  const found = await listWebhookSources(sql, { after: first.slice(0, -1), limit: 1_000 });
  return new Map(found.map(({ home, adapter }) => [home, adapter]));
}
