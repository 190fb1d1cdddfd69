// A session as the agent API shows it: where it stands, never what its runtime keeps.
import type { ListedSession } from '../../foundation/index.js';
import { formatInstant } from '../../protocol/index.js';

export function sessionView(session: ListedSession): object {
  return {
    id: session.id,
    agent: session.agent,
    state: session.state,
    active_run_id: session.activeRunId,
    forked_from_session_id: session.forkedFromSessionId,
    runtime_id: session.runtimeId,
    runtime_version: session.runtimeVersion,
    created_at: formatInstant(session.createdAt),
    updated_at: formatInstant(session.updatedAt),
  };
}
