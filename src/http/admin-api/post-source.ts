// POST /admin/v1/sources: an outside source is a service principal with a mailbox; with an adapter it can post webhooks.
import { z } from 'zod';
import { createPrincipal, createWebhookSource, type PrincipalGateway, webhookAdapters } from '../../home/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { jsonBody } from '../middleware/body.js';
import type { DoorUrls } from './get-domain.js';
import { displayName, principalName, principalProblem, principalView } from './principal-view.js';

const shape = z.strictObject({
  name: principalName,
  display_name: displayName.optional(),
  adapter: z.enum(webhookAdapters).optional(),
});

export function postSource(deps: PrincipalGateway & { urls: () => DoorUrls }): Endpoint {
  return {
    method: 'POST',
    path: '/admin/v1/sources',
    takes: { body: shape },
    async handle(ctx) {
      const caller = requireOperator(ctx);
      const { name, display_name, adapter } = await jsonBody(ctx, shape);
      const request = { name, displayName: display_name, tenant: caller.tenant, actor: caller.address };
      const created = adapter
        ? await createWebhookSource(deps, { ...request, adapter })
        : await createPrincipal(deps, { ...request, kind: 'service', visibility: 'hidden' });
      if (!created.ok) throw principalProblem(created);
      ctx.status = 201;
      ctx.body = {
        principal: principalView(created.principal),
        recovery_key: created.recoveryKey,
        ...('secret' in created && adapter
          ? { webhook: { adapter, url: webhookUrl(deps.urls(), adapter, name), secret: created.secret } }
          : {}),
      };
    },
  };
}

/** What goes into the settings of whoever posts: behind the advertised gateway. */
export function webhookUrl({ gateway }: DoorUrls, adapter: string, name: string): string {
  return `${gateway}/webhooks/${adapter}/${name}`;
}
