// DELETE /admin/v1/quarantine/{domain}?message_id=: throws away what is held of a domain, or one message of it.
import { z } from 'zod';
import { dropHeld } from '../../federation/index.js';
import type { Database } from '../../platform/index.js';
import { Problem, parseDomain } from '../../protocol/index.js';
import { type Endpoint, param } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';

const query = z.strictObject({ message_id: z.string().min(1).max(255).optional() });

export function deleteQuarantine({ db }: { db: Database }): Endpoint {
  return {
    method: 'DELETE',
    path: '/admin/v1/quarantine/:domain',
    takes: { query },
    async handle(ctx) {
      const caller = requireOperator(ctx);
      const { message_id: messageId } = queryOf(ctx, query);
      const peer = parseDomain(param(ctx, 'domain'));
      const dropped = peer ? await dropHeld(db, { peer, messageId, actor: caller.address }) : 0;
      if (dropped === 0) throw new Problem('not_found', 'nothing is held of this domain');
      ctx.body = { domain: peer, dropped };
    },
  };
}
