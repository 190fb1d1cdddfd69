// POST /admin/v1/agents/{name}/pause, …/resume and …/end (for good): by its owner or an operator.
import { endAgent, pauseAgent, resumeAgent } from '../../home/index.js';
import { Problem } from '../../protocol/index.js';
import { type Access, requireAgent } from '../agent-api/access.js';
import { type Endpoint, param } from '../endpoint.js';
import { requirePerson } from '../middleware/authenticate.js';
import { agentView } from './agent-view.js';

export function postAgentPause(access: Access): Endpoint {
  return postAgentStatus(access, 'pause', pauseAgent);
}

export function postAgentResume(access: Access): Endpoint {
  return postAgentStatus(access, 'resume', resumeAgent);
}

export function postAgentEnd(access: Access): Endpoint {
  return postAgentStatus(access, 'end', endAgent);
}

function postAgentStatus(access: Access, verb: string, change: typeof pauseAgent): Endpoint {
  return {
    method: 'POST',
    path: `/admin/v1/agents/:name/${verb}`,
    async handle(ctx) {
      const caller = requirePerson(ctx);
      const { principal } = await requireAgent(access, caller, param(ctx, 'name'));
      const changed = await change(access.db, { address: principal.address, actor: caller.address });
      if (!changed.ok) throw new Problem('conflict', changed.detail);
      const { record } = await requireAgent(access, caller, principal.address);
      ctx.body = agentView(record);
    },
  };
}
