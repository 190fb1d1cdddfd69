// GET /admin/v1/agents: all for an operator, its own for a person.
import { listAgentHomes } from '../../home/index.js';
import type { Sql } from '../../platform/index.js';
import type { Endpoint } from '../endpoint.js';
import { requirePerson } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { listOf, pageOf, pageQuery, textAt } from '../page.js';
import { agentView } from './agent-view.js';

export function getAgents({ db }: { db: { sql: Sql } }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/agents',
    takes: { query: pageQuery },
    async handle(ctx) {
      const caller = requirePerson(ctx);
      const list = listOf(ctx, queryOf(ctx, pageQuery));
      const owner = caller.kind === 'operator' ? undefined : caller.address;
      const found = await listAgentHomes(db.sql, {
        tenant: caller.tenant,
        owner,
        after: textAt(list.from),
        limit: list.limit + 1,
      });
      const page = pageOf(list, found, (record) => [record.agent_id]);
      ctx.body = { ...page, items: page.items.map(agentView) };
    },
  };
}
