/**
 * A suspension: a run's declared wait. `open` → `consumed` by the first match, in the commit that creates the continuation
 * run, or `cancelled` by a control. A subscription says what concerns a suspension (once) or an agent (repeatedly).
 */
import { Problem } from '../../protocol/index.js';
import { isTypePattern } from '../input/index.js';
import type { WhenActive } from '../ports.js';

export const suspensionLimits = {
  subscriptions: 16,
  reasonChars: 512,
  /** Agents that one input may reach by their subscriptions. */
  matches: 1_000,
  standingPerAgent: 256,
} as const;

export interface SuspensionRecord {
  home: string;
  id: string;
  tenant: string;
  sessionId: string;
  runId: string;
  reason: string;
  runtimeId: string;
  runtimeVersion: string;
  runtimeStateRef: string;
  inputLogCursor: number;
  status: 'open' | 'consumed' | 'cancelled';
  replayedAt: Date | null;
  continuationRunId: string | null;
}

export interface SubscriptionRecord {
  home: string;
  id: string;
  tenant: string;
  owner: 'agent' | 'suspension';
  suspensionId: string | null;
  sessionId: string | null;
  type: string;
  subject: string | null;
  whenActive: WhenActive | null;
  createdAt: Date;
}

/** Throws for what no input could ever match. */
export function checkSubscription({ type, subject }: { type: string; subject?: string }): void {
  if (!isTypePattern(type))
    throw new Problem('schema_invalid', `subscription type: ${type} is neither a type nor a prefix`);
  if (subject !== undefined && (subject === '' || subject.length > 512)) {
    throw new Problem('schema_invalid', 'subscription subject: is empty or too long');
  }
}

/** Every subscription type that an input type matches: itself and each of its prefixes. */
export function matchingTypes(type: string): string[] {
  const segments = type.split('.');
  return [type, ...segments.slice(1).map((_, index) => `${segments.slice(0, index + 1).join('.')}.*`)];
}
