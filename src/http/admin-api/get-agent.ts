// GET /admin/v1/agents/{name}
import { type Access, requireAgent } from '../agent-api/access.js';
import { type Endpoint, param } from '../endpoint.js';
import { requirePerson } from '../middleware/authenticate.js';
import { agentView } from './agent-view.js';

export function getAgent(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/agents/:name',
    async handle(ctx) {
      const { principal, record } = await requireAgent(access, requirePerson(ctx), param(ctx, 'name'));
      ctx.body = {
        ...agentView(record),
        home: principal.home,
        display_name: principal.displayName,
        visibility: principal.visibility,
      };
    },
  };
}
