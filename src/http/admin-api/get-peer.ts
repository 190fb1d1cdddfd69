// GET /admin/v1/peers/{domain}
import { type Peer, readPeer } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import { Problem, parseDomain } from '../../protocol/index.js';
import { type DoorContext, type Endpoint, param } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { peerViews } from './peer-view.js';

export function getPeer({ db }: { db: { sql: Sql } }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/peers/:domain',
    async handle(ctx) {
      requireOperator(ctx);
      const [view] = await peerViews(db.sql, [await requirePeer(ctx, db.sql)]);
      ctx.body = view;
    },
  };
}

async function requirePeer(ctx: DoorContext, sql: Sql): Promise<Peer> {
  const domain = parseDomain(param(ctx, 'domain'));
  const peer = domain && (await readPeer(sql, domain));
  if (!peer) throw new Problem('not_found', 'there is no such peer');
  return peer;
}
