// POST /admin/v1/peers/{domain}/block: nothing of it reaches a mailbox any more, whether or not it is known yet.
import { blockPeer, type Peers, readPeer } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import { type Domain, Problem, parseDomain } from '../../protocol/index.js';
import { type Endpoint, param } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { peerViews, refuseOwnDomain } from './peer-view.js';

export interface PeerDoor {
  db: { sql: Sql };
  peers: Peers;
  domain: { name: Domain };
}

export function postPeerBlock({ db, peers, domain: own }: PeerDoor): Endpoint {
  return {
    method: 'POST',
    path: '/admin/v1/peers/:domain/block',
    repeats: 'derived',
    async handle(ctx) {
      const caller = requireOperator(ctx);
      const domain = parseDomain(param(ctx, 'domain'));
      if (!domain) throw new Problem('not_found', 'the path names no domain');
      refuseOwnDomain(own, domain);
      await blockPeer(peers, { domain, actor: caller.address });
      const peer = await readPeer(db.sql, domain);
      if (!peer) throw new Error(`the blocked peer ${domain} is gone`);
      const [view] = await peerViews(db.sql, [peer]);
      ctx.body = view;
    },
  };
}
