// POST /admin/v1/agents: an agent with its Home, owner, runtime, grants and standing subscriptions, in one step.
import { z } from 'zod';
import { checkSubscription, type RuntimeRegistry } from '../../foundation/index.js';
import { agentHomeRecord, createAgent, type PrincipalGateway } from '../../home/index.js';
import { formatAddress, isPrincipalName, type JsonObject, Problem } from '../../protocol/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { jsonBody } from '../middleware/body.js';
import { agentView } from './agent-view.js';
import { attentionShape, toAttention } from './attention-shape.js';
import { displayName, principalName, principalProblem, visibility } from './principal-view.js';
import { subscriptionShape, toSubscription } from './subscription-shape.js';

const grant = z.strictObject({ action: z.string().min(1).max(128), target: z.string().min(1).max(2_048) });

const shape = z.strictObject({
  name: principalName,
  display_name: displayName.optional(),
  owner: z.string().max(255).optional(),
  visibility: visibility.optional(),
  runtime: z.strictObject({
    id: z.string().min(1).max(64),
    config: z.custom<JsonObject>(isObject, 'must be an object'),
  }),
  attention: attentionShape.optional(),
  grants: z.array(grant).max(256).optional(),
  subscriptions: z.array(subscriptionShape).max(256).optional(),
});

export function postAgent(deps: PrincipalGateway & { runtimes: RuntimeRegistry }): Endpoint {
  return {
    method: 'POST',
    path: '/admin/v1/agents',
    takes: { body: shape },
    async handle(ctx) {
      const caller = requireOperator(ctx);
      const body = await jsonBody(ctx, shape);
      deps.runtimes.check(body.runtime);
      const subscriptions = (body.subscriptions ?? []).map(toSubscription);
      for (const subscription of subscriptions) checkSubscription(subscription);
      const created = await createAgent(deps, {
        name: body.name,
        displayName: body.display_name,
        tenant: caller.tenant,
        visibility: body.visibility,
        owner: ownerOf(deps, body.owner ?? caller.address),
        runtime: body.runtime,
        attention: body.attention && toAttention(body.attention),
        grants: body.grants,
        subscriptions,
        actor: caller.address,
      });
      if (!created.ok)
        throw created.reason === 'owner_unknown'
          ? new Problem('schema_invalid', created.detail)
          : principalProblem(created);
      const record = await agentHomeRecord(deps.db.sql, created.principal.address);
      if (!record) throw new Error('an agent that was created cannot be read');
      ctx.status = 201;
      ctx.body = { agent: agentView(record), recovery_key: created.recoveryKey };
    },
  };
}

/** A bare name means a human of this domain. */
function ownerOf({ domain }: PrincipalGateway, owner: string): string {
  return isPrincipalName(owner) ? formatAddress({ kind: 'human', domain: domain.name, name: owner }) : owner;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
