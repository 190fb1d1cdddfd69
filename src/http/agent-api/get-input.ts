// GET /v1/inputs/{id}: what became of an input, one disposition per candidate (F3).
import { type Disposition, type InputView, type Reader, readInput } from '../../foundation/index.js';
import { type AuthenticatedCaller, principalByHome } from '../../home/index.js';
import { formatInstant, Problem } from '../../protocol/index.js';
import { callerOf, type Endpoint, param } from '../endpoint.js';
import { type Access, findAgentOf } from './access.js';

export function getInput(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/inputs/:id',
    async handle(ctx) {
      const id = param(ctx, 'id');
      const view = await readInput(access.db.sql, id, { caller: await readerOf(access, callerOf(ctx), id) });
      if (!view) throw new Problem('not_found', 'there is no such input');
      ctx.body = { ...inputView(view), disposition: await dispositionViews(access, view.dispositions) };
    },
  };
}

/** What came through its own mailbox, and through that of an agent that it may see. */
async function readerOf(access: Access, caller: AuthenticatedCaller, id: string): Promise<Reader> {
  if (caller.kind === 'operator') return { tenant: caller.tenant, homes: 'all' };
  const agent = await findAgentOf(access, caller, id);
  return { tenant: caller.tenant, homes: [caller.home, ...(agent ? [agent.principal.home] : [])] };
}

function inputView({ input, activationRefs, runRefs, dispositions }: InputView): object {
  return {
    id: input.id,
    kind: input.kind,
    type: input.type,
    source: input.source,
    source_event_id: input.sourceEventId,
    subject: input.subject,
    target: input.target,
    control: input.control,
    occurred_at: formatInstant(input.occurredAt),
    received_at: formatInstant(input.receivedAt),
    correlation_id: input.correlationId,
    causation_id: input.causationId,
    principal: input.principal,
    trust_class: input.trustClass,
    data_content_type: input.dataContentType,
    data: input.data,
    resolved: dispositions.length > 0,
    activation_refs: activationRefs,
    run_refs: runRefs,
  };
}

async function dispositionViews(access: Access, dispositions: readonly Disposition[]): Promise<object[]> {
  return Promise.all(
    dispositions.map(async (disposition) => ({
      candidate_id: disposition.candidateId,
      agent: await agentOf(access, disposition.home),
      route: disposition.route,
      session_id: disposition.sessionId,
      decision: disposition.decision,
      policy_id: disposition.policyId,
      reason: disposition.reason,
      status: disposition.status,
      run_id: disposition.runId,
      decided_at: formatInstant(disposition.decidedAt),
    })),
  );
}

/** Null for the row that says that no agent is concerned: it stands under the mailbox that the input came through. */
async function agentOf({ db }: Access, home: string): Promise<string | null> {
  const principal = await principalByHome(db.sql, home);
  return principal?.kind === 'agent' ? principal.address : null;
}
