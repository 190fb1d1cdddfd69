// A run as the agent API shows it.
import type { RunView } from '../../foundation/index.js';
import { formatInstant } from '../../protocol/index.js';

export function runView(run: RunView, agent: string): object {
  return {
    id: run.id,
    agent,
    session_id: run.sessionId,
    status: run.status,
    reason_code: run.reasonCode,
    attempt: run.attempt,
    resumed_from_run_id: run.resumedFromRunId,
    retry_of_run_id: run.retryOfRunId,
    activation_input_id: run.activationInputId,
    runtime_id: run.runtimeId,
    runtime_version: run.runtimeVersion,
    bundle_digest: run.bundleDigest,
    result: run.result,
    event_cursor: run.eventCursor,
    placement_epoch: run.placementEpoch,
    created_at: formatInstant(run.createdAt),
    started_at: run.startedAt ? formatInstant(run.startedAt) : null,
    ended_at: run.endedAt ? formatInstant(run.endedAt) : null,
  };
}
