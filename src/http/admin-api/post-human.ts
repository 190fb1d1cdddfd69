// POST /admin/v1/humans: a person of this domain. The recovery key is in this answer and nowhere else.
import { z } from 'zod';
import { createPrincipal, type PrincipalGateway, roles } from '../../home/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { jsonBody } from '../middleware/body.js';
import { displayName, principalName, principalProblem, principalView, visibility } from './principal-view.js';

const shape = z.strictObject({
  name: principalName,
  display_name: displayName.optional(),
  roles: z.array(z.enum(roles)).max(roles.length).optional(),
  visibility: visibility.optional(),
});

export function postHuman(gateway: PrincipalGateway): Endpoint {
  return {
    method: 'POST',
    path: '/admin/v1/humans',
    takes: { body: shape },
    async handle(ctx) {
      const caller = requireOperator(ctx);
      const { name, display_name, roles, visibility } = await jsonBody(ctx, shape);
      const request = {
        kind: 'human',
        name,
        displayName: display_name,
        roles,
        visibility,
        actor: caller.address,
      } as const;
      const created = await createPrincipal(gateway, { ...request, tenant: caller.tenant });
      if (!created.ok) throw principalProblem(created);
      ctx.status = 201;
      ctx.body = { principal: principalView(created.principal), recovery_key: created.recoveryKey };
    },
  };
}
