// GET /admin/v1/agents/{name}/subscriptions: all that stand; an agent has a bounded number.
import { listSubscriptions } from '../../foundation/index.js';
import { type Access, requireAgent } from '../agent-api/access.js';
import { type Endpoint, param } from '../endpoint.js';
import { requirePerson } from '../middleware/authenticate.js';
import { subscriptionView } from './subscription-shape.js';

export function getSubscriptions(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/agents/:name/subscriptions',
    async handle(ctx) {
      const { principal } = await requireAgent(access, requirePerson(ctx), param(ctx, 'name'));
      const found = await listSubscriptions(access.db.sql, principal.home);
      ctx.body = { items: found.map(subscriptionView), next_cursor: null };
    },
  };
}
