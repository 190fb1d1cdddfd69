/**
 * What the world outside a run was asked to do, and what became of it. The record belongs to the Environment, not to the
 * run: it outlives every attempt, and each attempt finds it by (home, proposal scope, proposal id).
 *
 * States: `pending` (intent committed, nothing sent) → `dispatching` (claimed for one attempt) → `succeeded` | `failed` |
 * `unknown` (sent, outcome not learnt). A `dispatching` whose claim has lapsed and an `unknown` are asked about by
 * idempotency key; only a target that says it never saw the key sends them out again, or back to `pending` when their run
 * is over. `succeeded` and `failed` are final.
 */
import { type JsonObject, type JsonValue, LIMITS } from '../../protocol/index.js';
import type { AuthorizationDecision, Fence } from '../ports.js';

export const effectLimits = {
  proposalIdChars: 512,
  actionChars: 128,
  targetChars: 2048,
  inputBytes: LIMITS.envelopeBytes,
  resultBytes: LIMITS.envelopeBytes,
  /** Attempts over the whole life of a record; after them an unknown outcome stays unknown. */
  attempts: 8,
  /** Times a transactional effect is prepared again because what it was signed over has moved. */
  prepares: 8,
} as const;

/** What a runtime, or a person, wants to have done. One proposal id per wish: saying it again finds the first. */
export interface ActionProposal {
  /** Session id, or `principal:{home}` for people. */
  proposalScope: string;
  proposalId: string;
  actor: { home: string; agent: string };
  tenant: string;
  action: string;
  target: string;
  input: JsonObject;
  /** The run that proposes; absent for people, who need no fence. */
  run?: ProposingRun;
  /** Trust classes the proposer has been shown. */
  labels?: readonly string[];
}

interface ProposingRun {
  runId: string;
  sessionId: string;
  fence: Fence;
  activationInputId: string;
  conversationId?: string;
}

export type EffectStatus = 'pending' | 'dispatching' | 'succeeded' | 'failed' | 'unknown';

export interface EffectRecord {
  home: string;
  effectId: string;
  operationId: string;
  tenant: string;
  proposalScope: string;
  proposalId: string;
  proposalDigest: string;
  runId: string | null;
  sessionId: string | null;
  actorId: string;
  target: string;
  action: string;
  request: JsonObject;
  idempotencyKey: string;
  authorizationDecision: AuthorizationDecision;
  placementLeaseId: string | null;
  placementEpoch: number | null;
  status: EffectStatus;
  attempt: number;
  /** While `dispatching`: until when one attempt has it to itself. While `unknown`: when to ask next, null for never. */
  claimedUntil: Date | null;
  reasonCode: string | null;
  result: JsonValue;
  resultRef: string | null;
  createdAt: Date;
  dispatchedAt: Date | null;
  settledAt: Date | null;
}

export type EffectOutcome =
  | { status: 'succeeded'; result: JsonValue; resultRef?: string }
  | { status: 'failed'; reason: string; result?: JsonValue }
  | { status: 'unknown'; reason: string };

/** Nothing was done and nothing will be; the same proposal may be made again and is decided afresh. */
export interface EffectRefusal {
  refused: true;
  reason: string;
  policyId: string;
}

export type EffectResult = EffectRecord | EffectRefusal;

export function isRefusal(result: EffectResult): result is EffectRefusal {
  return 'refused' in result;
}

/** What the proposer is shown. */
export function observationOf(result: EffectResult): JsonObject {
  if (isRefusal(result)) return { status: 'refused', reason: result.reason, policy_id: result.policyId };
  return {
    status: result.status,
    effect_id: result.effectId,
    ...(result.result === null ? {} : { result: result.result }),
    ...(result.reasonCode === null ? {} : { reason: result.reasonCode }),
  };
}
