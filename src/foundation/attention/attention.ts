/**
 * What an agent's attention weighs before an event that it listens to may wake it. Who sent it, how far it is trusted, how
 * urgent it is and until when it matters are set by ingress; nothing here is read from data.
 */
import type { InputPriority, InputRecord, Relationship, TrustClass } from '../input/index.js';
import type { AttentionSettings } from '../ports.js';

export const attentionLimits = {
  staleAfterMs: 366 * 24 * 3_600_000,
  /** Of duplicates and of the budget. */
  windowMs: 7 * 24 * 3_600_000,
  wakes: 10_000,
  worth: 100,
} as const;

/** What kind of sign it is that something might be to do. */
export type Signal = 'event' | 'time' | 'state' | 'goal';

export interface AttentionFacts {
  signal: Signal;
  trustClass: TrustClass;
  relationship: Relationship;
  subscription: { bySubject: boolean; byPrefix: boolean; priority: InputPriority };
  priority: InputPriority;
  /** How long until it is too late, where ingress knows. */
  dueInMs?: number | undefined;
  ageMs: number;
  /** Wakes of the agent within its budget's window; 0 where it has no budget. */
  wakes: number;
  /** The same key stands in the agent's lane, or was taken within its window. */
  duplicate?: 'waiting' | 'seen' | undefined;
  activeRun: boolean;
  settings: AttentionSettings;
}

export type Weights = Record<
  'trust' | 'relationship' | 'subscription' | 'urgency' | 'freshness' | 'cost' | 'duplicate' | 'risk' | 'active_run',
  number
>;

/** `wake` leaves the decision to the session's state. */
export interface WeighedAttention {
  verdict: 'wake' | 'project' | 'ignore';
  policyId: string;
  reason: string;
  weights: Weights;
}

export function recordOfAttention({ verdict, policyId, reason, weights }: WeighedAttention) {
  return { verdict, policy_id: policyId, reason, weights: { ...weights } };
}

export function signalOf({ type }: Pick<InputRecord, 'type'>): Signal {
  const [first = ''] = type.split('.', 1);
  if (['timer', 'schedule', 'heartbeat', 'lease'].includes(first)) return 'time';
  if (['goal', 'commitment', 'deadline'].includes(first)) return 'goal';
  return ['run', 'effect', 'message', 'approval', 'suspension', 'state'].includes(first) ? 'state' : 'event';
}
