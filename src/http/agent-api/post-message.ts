/**
 * POST /v1/messages: a person says or asks something as itself. It is an ActionProposal like an agent's, only without a run:
 * the Effect Gateway authorizes it, and the Outbox row is in the intent's own commit (D14).
 */
import { z } from 'zod';
import {
  type EffectGateway,
  type EffectRefusal,
  type EffectResult,
  isRefusal,
  performEffect,
} from '../../foundation/index.js';
import {
  addressSchema,
  digestOf,
  INTERACTION_TYPES,
  type JsonObject,
  Problem,
  type ProblemCode,
  toBase64url,
  toUtf8,
} from '../../protocol/index.js';
import type { DoorContext, Endpoint } from '../endpoint.js';
import { requirePerson } from '../middleware/authenticate.js';
import { jsonBody } from '../middleware/body.js';

const shape = z.strictObject({
  to: addressSchema,
  type: z.enum(INTERACTION_TYPES),
  conversation_id: z.string().max(320).optional(),
  body: z.custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  ),
});

export function postMessage(effects: EffectGateway): Endpoint {
  return {
    method: 'POST',
    path: '/v1/messages',
    takes: { body: shape },
    repeats: 'derived',
    async handle(ctx) {
      const caller = requirePerson(ctx);
      const { to, type, conversation_id, body } = await jsonBody(ctx, shape);
      const result = await performEffect(effects, {
        proposalScope: `principal:${caller.home}`,
        proposalId: proposalIdOf(ctx) ?? `http/${toBase64url(effects.random.bytes(15))}`,
        actor: { home: caller.home, agent: caller.address },
        tenant: caller.tenant,
        action: `interaction.${type}`,
        target: to,
        input: { ...body, ...(conversation_id === undefined ? {} : { conversation_id }) },
      });
      ctx.status = 202;
      ctx.body = answerOf(result);
    },
  };
}

/** The same key again finds the first, also after a crash: it never sends twice. */
function proposalIdOf(ctx: DoorContext): string | undefined {
  const key = ctx.get('Idempotency-Key');
  return key === '' ? undefined : `key/${digestOf(toUtf8(key))}`;
}

function answerOf(result: EffectResult): object {
  if (isRefusal(result)) {
    if (result.reason === 'proposal_reused')
      throw new Problem('idempotency_conflict', 'the key was used for another message');
    throw new Problem(codeOf(result), `refused: ${result.reason}`, {
      extra: { reason: result.reason, policy_id: result.policyId },
    });
  }
  if (result.status === 'failed') {
    const reason = result.reasonCode ?? 'unknown';
    throw new Problem('conflict', `not sent: ${reason}`, { extra: { reason, effect_id: result.effectId } });
  }
  return { effect_id: result.effectId, status: result.status, result: result.result, reason_code: result.reasonCode };
}

/** Refused by policy, or by what the message itself says, or by how things stand now (an unknown peer, a settled promise). */
function codeOf({ reason, policyId }: EffectRefusal): ProblemCode {
  if (policyId !== 'foundation.effect') return 'forbidden';
  return reason.startsWith('proposal_invalid') ? 'schema_invalid' : 'conflict';
}
