// GET /admin/v1/agents/{name}/subscriptions: those that stand; an agent has a bounded number, so a page is cut from all.
import { listSubscriptions } from '../../foundation/index.js';
import { type Access, requireAgent } from '../agent-api/access.js';
import { type Endpoint, param } from '../endpoint.js';
import { requirePerson } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { listOf, pageOf, pageQuery, textAt } from '../page.js';
import { subscriptionView } from './subscription-shape.js';

export function getSubscriptions(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/agents/:name/subscriptions',
    takes: { query: pageQuery },
    async handle(ctx) {
      const list = listOf(ctx, queryOf(ctx, pageQuery));
      const { principal } = await requireAgent(access, requirePerson(ctx), param(ctx, 'name'));
      const after = textAt(list.from) ?? '';
      const standing = await listSubscriptions(access.db.sql, principal.home);
      const found = standing.filter(({ id }) => id > after).sort((a, b) => (a.id < b.id ? -1 : 1));
      const page = pageOf(list, found, ({ id }) => [id]);
      ctx.body = { ...page, items: page.items.map(subscriptionView) };
    },
  };
}
