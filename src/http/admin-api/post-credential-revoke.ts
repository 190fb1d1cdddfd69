// POST /admin/v1/credentials/{id}/revoke: counts from the next request on.
import { revokeCredential } from '../../home/index.js';
import type { Database } from '../../platform/index.js';
import { Problem } from '../../protocol/index.js';
import { type Endpoint, param } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';

export function postCredentialRevoke({ db }: { db: Database }): Endpoint {
  return {
    method: 'POST',
    path: '/admin/v1/credentials/:id/revoke',
    async handle(ctx) {
      const caller = requireOperator(ctx);
      const id = param(ctx, 'id');
      const revoked = await revokeCredential(db, { id, actor: caller.address });
      if (!revoked) throw new Problem('not_found', 'there is no such credential that still holds');
      ctx.body = { id, revoked: true };
    },
  };
}
