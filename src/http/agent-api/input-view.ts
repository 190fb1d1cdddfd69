// An input as the agent API shows it, and what was decided on it.
import type { Disposition, InputView } from '../../foundation/index.js';
import { principalsByHome } from '../../home/index.js';
import { formatInstant } from '../../protocol/index.js';
import type { Access } from './access.js';

export function inputView({ input, activationRefs, runRefs, dispositions, more }: InputView): object {
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
    more_dispositions: more,
  };
}

export async function dispositionViews(access: Access, dispositions: readonly Disposition[]): Promise<object[]> {
  const agents = await agentsOf(
    access,
    dispositions.map(({ home }) => home),
  );
  return dispositions.map((disposition) => ({
    candidate_id: disposition.candidateId,
    agent: agents.get(disposition.home) ?? null,
    route: disposition.route,
    session_id: disposition.sessionId,
    decision: disposition.decision,
    policy_id: disposition.policyId,
    reason: disposition.reason,
    status: disposition.status,
    run_id: disposition.runId,
    decided_at: formatInstant(disposition.decidedAt),
  }));
}

/** None for the row that says that no agent is concerned: it stands under the mailbox that the input came through. */
async function agentsOf({ db }: Access, homes: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const principals = await principalsByHome(db.sql, [...new Set(homes)]);
  return new Map(principals.flatMap(({ kind, home, address }) => (kind === 'agent' ? [[home, address]] : [])));
}
