// DELETE /admin/v1/agents/{name}/subscriptions/{id}
import { appendAudit, endStandingSubscription } from '../../foundation/index.js';
import { Problem } from '../../protocol/index.js';
import { type Access, requireAgent } from '../agent-api/access.js';
import { type Endpoint, param } from '../endpoint.js';
import { requirePerson } from '../middleware/authenticate.js';

export function deleteSubscription(access: Access): Endpoint {
  return {
    method: 'DELETE',
    path: '/admin/v1/agents/:name/subscriptions/:id',
    async handle(ctx) {
      const caller = requirePerson(ctx);
      const { principal } = await requireAgent(access, caller, param(ctx, 'name'));
      const { home } = principal;
      const id = param(ctx, 'id');
      const ended = await access.db.transact('end subscription', async (tx) => {
        const ended = await endStandingSubscription(tx, { home, id });
        if (ended)
          await appendAudit(tx, {
            home,
            actor: caller.address,
            action: 'subscription.end',
            object: id,
            outcome: 'ended',
          });
        return ended;
      });
      if (!ended) throw new Problem('not_found', 'there is no such subscription');
      ctx.status = 204;
    },
  };
}
