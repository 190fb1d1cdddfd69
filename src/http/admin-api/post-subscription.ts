// POST /admin/v1/agents/{name}/subscriptions: the same one twice is one.
import { addStandingSubscription, appendAudit } from '../../foundation/index.js';
import type { Clock, Random } from '../../platform/index.js';
import { type Access, requireAgent } from '../agent-api/access.js';
import { type Endpoint, param } from '../endpoint.js';
import { requirePerson } from '../middleware/authenticate.js';
import { jsonBody } from '../middleware/body.js';
import { subscriptionShape, toSubscription } from './subscription-shape.js';

export function postSubscription(deps: Access & { clock: Clock; random: Random }): Endpoint {
  return {
    method: 'POST',
    path: '/admin/v1/agents/:name/subscriptions',
    takes: { body: subscriptionShape },
    async handle(ctx) {
      const caller = requirePerson(ctx);
      const { principal } = await requireAgent(deps, caller, param(ctx, 'name'));
      const body = await jsonBody(ctx, subscriptionShape);
      const { home, tenant } = principal;
      const ids = { now: deps.clock.now(), random: (count: number) => deps.random.bytes(count) };
      const id = await deps.db.transact('add subscription', async (tx) => {
        const id = await addStandingSubscription(tx, { ...toSubscription(body), home, tenant, ids });
        await appendAudit(tx, {
          home,
          actor: caller.address,
          action: 'subscription.add',
          object: id,
          outcome: 'active',
        });
        return id;
      });
      ctx.status = 201;
      ctx.body = {
        id,
        type: body.type,
        subject: body.subject ?? null,
        when_active: body.when_active ?? null,
        priority: body.priority ?? 'normal',
      };
    },
  };
}
