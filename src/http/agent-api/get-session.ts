// GET /v1/sessions/{id}: a session with the wait it is in and the head of its lane, the next first.
import { readSession } from '../../foundation/index.js';
import { formatInstant, Problem } from '../../protocol/index.js';
import { callerOf, type Endpoint, param } from '../endpoint.js';
import { type Access, findAgentOf } from './access.js';
import { sessionView } from './session-view.js';

export function getSession(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/sessions/:id',
    async handle(ctx) {
      const id = param(ctx, 'id');
      const agent = await findAgentOf(access, callerOf(ctx), id);
      const caller = agent && { tenant: agent.principal.tenant, homes: [agent.principal.home] };
      const view = caller && (await readSession(access.db.sql, id, { caller }));
      if (!view) throw new Problem('not_found', 'there is no such session');
      const { session, suspension, lane } = view;
      ctx.body = {
        ...sessionView(session),
        suspension: suspension ? { id: suspension.id, reason: suspension.reason, run_id: suspension.runId } : null,
        lane: lane.map((candidate) => ({
          candidate_id: candidate.id,
          input_id: candidate.inputId,
          route: candidate.route,
          decision: candidate.decision,
          reason: candidate.reason,
          decided_at: formatInstant(candidate.decidedAt),
        })),
      };
    },
  };
}
