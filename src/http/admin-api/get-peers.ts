// GET /admin/v1/peers
import { listPeers } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { decodeCursor, pageOf, pageQuery } from '../page.js';
import { peerViews } from './peer-view.js';

export function getPeers({ db }: { db: { sql: Sql } }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/peers',
    takes: { query: pageQuery },
    async handle(ctx) {
      requireOperator(ctx);
      const { limit, cursor } = queryOf(ctx, pageQuery);
      const found = await listPeers(db.sql, { after: decodeCursor(cursor) ?? '', limit: limit + 1 });
      const page = pageOf(found, limit, (peer) => peer.domain);
      ctx.body = { ...page, items: await peerViews(db.sql, page.items) };
    },
  };
}
