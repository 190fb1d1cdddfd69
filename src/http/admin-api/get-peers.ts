// GET /admin/v1/peers
import { listPeers } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { listOf, pageOf, pageQuery, textAt } from '../page.js';
import { peerViews } from './peer-view.js';

export function getPeers({ db }: { db: { sql: Sql } }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/peers',
    takes: { query: pageQuery },
    async handle(ctx) {
      requireOperator(ctx);
      const list = listOf(ctx, queryOf(ctx, pageQuery));
      const found = await listPeers(db.sql, { after: textAt(list.from) ?? '', limit: list.limit + 1 });
      const page = pageOf(list, found, (peer) => [peer.domain]);
      ctx.body = { ...page, items: await peerViews(db.sql, page.items) };
    },
  };
}
