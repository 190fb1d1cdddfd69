/**
 * What an agent's attention weighs before something may wake it. Who sent it, how far it is trusted, how urgent it is and
 * until when it matters are set by ingress; nothing here is read from data.
 */
import {
  foundationSource,
  type InputPriority,
  type InputRecord,
  type Relationship,
  scheduleSource,
  type TrustClass,
} from '../input/index.js';
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
  /** By which the agent listens; absent for what is addressed to it. */
  subscription?: { bySubject: boolean; byPrefix: boolean; priority: InputPriority } | undefined;
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

/** Told by where it comes from, which ingress sets: a producer may call its events what it likes. */
export function signalOf({ source, type }: Pick<InputRecord, 'source' | 'type'>): Signal {
  if (source === foundationSource) return 'state';
  if (source !== scheduleSource) return 'event';
  const [first] = type.split('.', 1);
  return first === 'deadline' || first === 'commitment' ? 'goal' : 'time';
}

/**
 * Whether attention is asked: for what an agent listens to, for what its own times and goals and the domain tell it, and for
 * what others than its own domain's people and services want of it.
 */
export function isWeighed(
  input: Pick<InputRecord, 'kind' | 'relationship' | 'source' | 'type'>,
  listens: boolean,
): boolean {
  if (input.kind === 'command') return input.relationship !== 'own';
  return input.kind === 'event' && (listens || signalOf(input) !== 'event');
}
