// POST /admin/v1/peers/{domain}/block: nothing of it reaches a mailbox any more.
import { blockPeer, type Peers } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { requirePeer } from './get-peer.js';
import { peerViews } from './peer-view.js';

export function postPeerBlock({ db, peers }: { db: { sql: Sql }; peers: Peers }): Endpoint {
  return {
    method: 'POST',
    path: '/admin/v1/peers/:domain/block',
    async handle(ctx) {
      requireOperator(ctx);
      const peer = await requirePeer(ctx, db.sql);
      await blockPeer(peers, peer.domain);
      const [view] = await peerViews(db.sql, [await requirePeer(ctx, db.sql)]);
      ctx.body = view;
    },
  };
}
