/**
 * POST /webhooks/github/{source}: the HMAC over the raw bytes decides; nothing of an unverified body is parsed or kept. An
 * unknown source is answered like a bad signature.
 */
import { normalizeGithubDelivery, verifyGithubSignature } from '../../adapters/webhook/index.js';
import { parseAgentInput } from '../../foundation/index.js';
import { Problem, parseStrictJson } from '../../protocol/index.js';
import type { InputDoor } from '../accept-at-door.js';
import { type DoorContext, type Endpoint, param } from '../endpoint.js';
import { rawBody } from '../middleware/body.js';

interface WebhookSource {
  home: string;
  tenant: string;
  address: string;
  secret: Uint8Array;
}

export type PostGithub = InputDoor & { findSource: (name: string) => Promise<WebhookSource | undefined> };

const bodyRules = {
  maxBytes: 5 * 1024 * 1024,
  mediaType: 'application/json',
  hint: 'Set the content type of the webhook to application/json.',
};

export function postGithub(deps: PostGithub): Endpoint {
  // Compared against when there is no such source, so that the answer takes as long.
  const nobody = deps.random.bytes(32);
  return {
    method: 'POST',
    path: '/webhooks/github/:source',
    async handle(ctx) {
      const body = await rawBody(ctx, bodyRules);
      const source = await deps.findSource(param(ctx, 'source'));
      const signed = verifyGithubSignature(source?.secret ?? nobody, body, ctx.get('X-Hub-Signature-256'));
      if (!source || !signed) throw new Problem('signature_invalid', 'the signature does not hold');
      ctx.state.verified = true;
      const { inputId, duplicate } = await deps.accept(arrivedFrom(ctx, source, body));
      ctx.status = 202;
      ctx.body = { input_id: inputId, duplicate };
    },
  };
}

function arrivedFrom(ctx: DoorContext, source: WebhookSource, body: Uint8Array) {
  const normalized = normalizeGithubDelivery({
    event: ctx.get('X-GitHub-Event'),
    delivery: ctx.get('X-GitHub-Delivery'),
    payload: parseStrictJson(body, { maxBytes: bodyRules.maxBytes }),
  });
  if (!normalized.ok) throw new Problem('schema_invalid', normalized.reason);
  const { type, sourceEventId, resource, data } = normalized.event;
  return {
    ingress: {
      tenant: source.tenant,
      home: source.home,
      source: source.address,
      principal: source.address,
      // GitHub vouches for the delivery, not for what its users wrote into it.
      trustClass: 'untrusted_content',
    } as const,
    input: parseAgentInput({
      kind: 'event',
      type,
      source_event_id: sourceEventId,
      ...(resource === undefined ? {} : { subject: { resource } }),
      data_content_type: 'application/json',
      data,
    }),
    body,
    contentType: 'application/json',
    facts: { event: ctx.get('X-GitHub-Event'), transport: 'webhook/github' },
  };
}
