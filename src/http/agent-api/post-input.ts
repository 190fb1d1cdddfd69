/**
 * POST /v1/inputs: the public way in. Who speaks, for which tenant and how far it is trusted come from the credential; the
 * same names in the body are data and are dropped (F1).
 */
import { type AgentInput, agentInputSchema, parseAgentInput, type TrustClass } from '../../foundation/index.js';
import type { AuthenticatedCaller } from '../../home/index.js';
import { formatAddress, isPrincipalName, Problem, parseStrictJson } from '../../protocol/index.js';
import type { InputDoor } from '../accept-at-door.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { rawBody } from '../middleware/body.js';
import { type Access, mayCommand } from './access.js';

const bodyRules = { maxBytes: 1024 * 1024, mediaType: 'application/json' };

export function postInput(deps: InputDoor & Access): Endpoint {
  return {
    method: 'POST',
    path: '/v1/inputs',
    takes: { body: agentInputSchema },
    async handle(ctx) {
      const caller = callerOf(ctx);
      const body = await rawBody(ctx, bodyRules);
      const parsed = parseAgentInput(parseStrictJson(body, { maxBytes: bodyRules.maxBytes }));
      const input = withFullAddress(parsed, deps);
      await refuseForeignTargets(deps, caller, input);
      const { inputId, duplicate } = await deps.accept({
        ingress: {
          tenant: caller.tenant,
          home: caller.home,
          source: caller.source ?? caller.address,
          principal: caller.address,
          trustClass: trustOf(caller),
          relationship: 'own',
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
