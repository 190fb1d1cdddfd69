// POST /admin/v1/peers: pins a domain by its fingerprint, whether or not it answers now; `look` says whether it does.
import { z } from 'zod';
import { pinPeer } from '../../federation/index.js';
import { domainSchema } from '../../protocol/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { jsonBody } from '../middleware/body.js';
import { peerViews, refuseOwnDomain } from './peer-view.js';
import type { PeerDoor } from './post-peer-block.js';

const shape = z.strictObject({
  domain: domainSchema,
  fingerprint: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'not a fingerprint'),
});

export function postPeer({ db, peers, domain: own }: PeerDoor): Endpoint {
  return {
    method: 'POST',
    path: '/admin/v1/peers',
    takes: { body: shape },
    repeats: 'derived',
    async handle(ctx) {
      const caller = requireOperator(ctx);
      const pin = await jsonBody(ctx, shape);
      refuseOwnDomain(own, pin.domain);
      const { peer, look } = await pinPeer(peers, { ...pin, actor: caller.address });
      const [view] = await peerViews(db.sql, [peer]);
      ctx.status = 201;
      ctx.body = {
        ...view,
        look: look.ok ? { ok: true } : { ok: false, reason: look.reason, detail: look.detail },
      };
    },
  };
}
