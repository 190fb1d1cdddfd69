/**
 * A run: one activation attempt. `queued` → `running` → exactly one of `completed`, `failed`, `cancelled`, `suspended`,
 * `budget_exceeded`. An ended run never runs again: a continuation or a repeated attempt is a new run that names it (F7).
 */
import type { JsonObject, JsonValue } from '../../protocol/index.js';
import type { Fence } from '../ports.js';

export const runLimits = {
  /** As long as a placement: a host that has lost one has lost the other. */
  leaseMs: 6_000,
  attempts: 5,
  timeLimitMs: 15 * 60_000,
  /** How long a runtime that was told to stop may take to say how it ended. */
  stopGraceMs: 2_000,
  eventBytes: 64 * 1024,
  stateBytes: 1024 * 1024,
  /** Events of the runtime itself, in one run. */
  events: 10_000,
  /** Refused ones count: each leaves an audit entry and an event. */
  proposals: 1_000,
} as const;

export const runStatuses = [
  'queued',
  'running',
  'completed',
  'failed',
  'cancelled',
  'suspended',
  'budget_exceeded',
] as const;
export type RunStatus = (typeof runStatuses)[number];
export type EndedRunStatus = Exclude<RunStatus, 'queued' | 'running'>;

export interface RunRecord {
  home: string;
  id: string;
  tenant: string;
  sessionId: string;
  status: RunStatus;
  activationCandidateId: string;
  resumedFromRunId: string | null;
  retryOfRunId: string | null;
  attempt: number;
  runtimeId: string;
  runtimeVersion: string;
  holder: string | null;
  placementLeaseId: string | null;
  placementEpoch: number | null;
  leaseExpiresAt: Date | null;
  bundleDigest: string | null;
  modelInputRecord: JsonObject | null;
  /**
   * A wait that it declares is answered by anything later in the log that its session has not taken: the position of the
   * input it was activated by, and for a continuation still that of the run that first suspended.
   */
  inputLogCursor: number;
  eventCursor: number;
  reasonCode: string | null;
  result: JsonValue;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
}

/** A run that has just begun; with controls, somebody wanted something of it before. */
export interface StartedRun extends RunRecord {
  controlCursor: number;
}

/** A run that this process has claimed: it may act for it as long as the fence holds. */
export interface ClaimedRun extends StartedRun {
  fence: Fence;
}

/** Controls for a live run wait on this channel. */
export function controlChannel(runId: string): string {
  return `controls:${runId}`;
}
