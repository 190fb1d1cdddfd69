/**
 * POST /v1/inputs: the public way in. Who speaks, for which tenant and how far it is trusted come from the credential; the
 * same names in the body are data and are dropped (F1).
 */
import { z } from 'zod';
import {
  type AgentInput,
  agentInputSchema,
  type InputPriority,
  parseAgentInput,
  type TrustClass,
} from '../../foundation/index.js';
import type { AuthenticatedCaller } from '../../home/index.js';
import { formatAddress, isPrincipalName, type JsonValue, Problem, parseStrictJson } from '../../protocol/index.js';
import type { InputDoor } from '../accept-at-door.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { rawBody } from '../middleware/body.js';
import { type Access, mayCommand } from './access.js';

/** How soon it is to be done beside the agent's other work is its sender's to say, within `priorityOf`. */
const postInputSchema = agentInputSchema.extend({ priority: z.enum(['urgent', 'normal', 'bulk']).optional() });

const bodyRules = { maxBytes: 1024 * 1024, mediaType: 'application/json' };

export function postInput(deps: InputDoor & Access): Endpoint {
  return {
    method: 'POST',
    path: '/v1/inputs',
    takes: { body: postInputSchema },
    async handle(ctx) {
      const caller = callerOf(ctx);
      const body = await rawBody(ctx, bodyRules);
      const given = parseStrictJson(body, { maxBytes: bodyRules.maxBytes });
      const input = withFullAddress(parseAgentInput(given), deps);
      const priority = priorityOf(caller, given);
      await refuseForeignTargets(deps, caller, input);
      const { inputId, duplicate } = await deps.accept({
        ingress: {
          tenant: caller.tenant,
          home: caller.home,
          source: caller.source ?? caller.address,
          principal: caller.address,
          trustClass: trustOf(caller),
          relationship: 'own',
          priority,
        },
        input,
        body,
        contentType: 'application/json',
        facts: { transport: 'http' },
      });
      ctx.status = 202;
      ctx.body = { input_id: inputId, duplicate };
    },
  };
}

/** A producer reports, and what it reports is content; a person who may command an agent instructs it. */
function trustOf(caller: AuthenticatedCaller): TrustClass {
  return caller.kind === 'producer' ? 'untrusted_content' : 'instruction';
}

/** A person knows how urgent its own command is; what a producer reports may wait, but never overtakes by its own word. */
function priorityOf({ kind }: AuthenticatedCaller, given: JsonValue): InputPriority {
  const parsed = postInputSchema.pick({ priority: true }).safeParse(given);
  if (!parsed.success) throw new Problem('schema_invalid', 'priority: urgent, normal or bulk');
  const asked = parsed.data.priority ?? 'normal';
  return kind === 'producer' && asked === 'urgent' ? 'normal' : asked;
}

/** A bare name means an agent of this domain. */
function withFullAddress(input: AgentInput, { domain }: InputDoor): AgentInput {
  const agent = input.target?.agent;
  if (agent === undefined || !isPrincipalName(agent)) return input;
  return {
    ...input,
    target: { ...input.target, agent: formatAddress({ kind: 'agent', domain: domain.name, name: agent }) },
  };
}

/** A person speaks only to agents that it owns; whether another's agent exists is not told. */
async function refuseForeignTargets(
  access: Access,
  caller: AuthenticatedCaller,
  { kind, target }: AgentInput,
): Promise<void> {
  if (kind === 'control') {
    throw new Problem('forbidden', 'a run is controlled with POST /v1/runs/{id}/controls');
  }
  if (caller.kind !== 'person') return;
  if (!(await mayCommand(access, caller, target ?? {}))) {
    throw new Problem('forbidden', 'a person may send inputs only to agents that it owns, named in target');
  }
}
