// POST /admin/v1/peers: pins a domain by its fingerprint, whether or not it answers now; `look` says whether it does.
import { z } from 'zod';
import { type Peers, pinPeer } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import { domainSchema } from '../../protocol/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { jsonBody } from '../middleware/body.js';
import { peerViews } from './peer-view.js';

const shape = z.strictObject({
  domain: domainSchema,
  fingerprint: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'not a fingerprint'),
});

export function postPeer({ db, peers }: { db: { sql: Sql }; peers: Peers }): Endpoint {
  return {
    method: 'POST',
    path: '/admin/v1/peers',
    async handle(ctx) {
      requireOperator(ctx);
      const { peer, look } = await pinPeer(peers, await jsonBody(ctx, shape));
      const [view] = await peerViews(db.sql, [peer]);
      ctx.status = 201;
      ctx.body = {
        ...view,
        look: look.ok ? { ok: true } : { ok: false, reason: look.reason, detail: look.detail },
      };
    },
  };
}
