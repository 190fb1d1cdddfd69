/**
 * A suspension: a run's declared wait. `open` → `consumed` in the commit that creates the continuation run, by the input that
 * satisfies its policy or by the input `suspension.expired`, or → `cancelled` by a control. While open it counts what it has
 * waited for so far; once its expiry is written (`expired_by`) it counts nothing more. A subscription says what concerns a
 * suspension (once, or a number of times) or an agent (repeatedly).
 */
import { isWellFormed, Problem } from '../../protocol/index.js';
import { type InputPriority, isTypePattern } from '../input/index.js';
import type { WhenActive } from '../ports.js';

export const suspensionLimits = {
  subscriptions: 16,
  /** Inputs that all subscriptions of a wait may take together: as many as one run can be shown. */
  inputs: 32,
  reasonChars: 512,
  subjectChars: 512,
  dedupeChars: 256,
  /** Longest time ahead that an expiry may be given as a duration. */
  expiresInMs: 10 * 366 * 24 * 3_600_000,
  standingPerAgent: 256,
} as const;

/** `any`: that many distinct subscriptions are satisfied. */
export type ResumePolicy = 'first_match' | 'all' | { any: number };

/** An instant (ISO 8601 with offset), or so long after the wait began. */
export type Expiry = { at: string } | { inMs: number };

interface AwaitedInput {
  type: string;
  subject?: string;
  /** How many inputs satisfy it. Absent: one. */
  repeat?: number;
  /** It counts nothing that is received later. */
  expires?: Expiry;
  /** JSON pointer into an input's type, source, principal, subject, correlation_id or data: the same value counts once. */
  dedupe?: string;
}

/** What a run waits for. */
export interface WaitTerms {
  subscriptions: AwaitedInput[];
  resumePolicy: ResumePolicy;
  expires?: Expiry;
}

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
  resumePolicy: 'first_match' | 'all' | 'any';
  needed: number;
  expiresAt: Date | null;
  dueAt: Date | null;
  expiredBy: string | null;
  partlyMatched: number;
  status: 'open' | 'consumed' | 'cancelled';
  replayedAt: Date | null;
  replayedTo: number | null;
  replayFaults: number;
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
  priority: InputPriority;
  createdAt: Date;
}

/** Throws for what no input could ever match. */
export function checkSubscription({ type, subject }: { type: string; subject?: string }): void {
  if (!isTypePattern(type))
    throw new Problem('schema_invalid', `subscription type: ${type} is neither a type nor a prefix`);
  if (subject !== undefined && (subject === '' || subject.length > suspensionLimits.subjectChars)) {
    throw new Problem('schema_invalid', 'subscription subject: is empty or too long');
  }
}

export type WaitFault =
  | 'suspension_malformed'
  | 'suspension_repeat_malformed'
  | 'suspension_dedupe_malformed'
  | 'suspension_policy_malformed'
  | 'suspension_expiry_malformed'
  | 'suspension_too_many_inputs';

/** Why a wait cannot be declared like this; a wait that could never end is one of the reasons. */
export function faultOfWait({ subscriptions, resumePolicy, expires }: WaitTerms): WaitFault | undefined {
  if (!Array.isArray(subscriptions)) return 'suspension_malformed';
  const { length } = subscriptions;
  if (length === 0 || length > suspensionLimits.subscriptions) return 'suspension_malformed';
  for (const subscription of subscriptions) {
    const fault = faultOfAwaited(subscription);
    if (fault !== undefined) return fault;
  }
  const inputs = subscriptions.reduce((sum, { repeat = 1 }) => sum + repeat, 0);
  if (inputs > suspensionLimits.inputs) return 'suspension_too_many_inputs';
  if (!isPolicy(resumePolicy, length)) return 'suspension_policy_malformed';
  return isExpiry(expires) ? undefined : 'suspension_expiry_malformed';
}

function faultOfAwaited({ type, subject, repeat, expires, dedupe }: AwaitedInput): WaitFault | undefined {
  if (typeof type !== 'string' || !isTypePattern(type)) return 'suspension_malformed';
  if (subject !== undefined && !isText(subject, suspensionLimits.subjectChars)) return 'suspension_malformed';
  if (repeat !== undefined && !(Number.isInteger(repeat) && repeat >= 1 && repeat <= suspensionLimits.inputs)) {
    return 'suspension_repeat_malformed';
  }
  if (dedupe !== undefined && !(isText(dedupe, suspensionLimits.dedupeChars) && dedupe.startsWith('/'))) {
    return 'suspension_dedupe_malformed';
  }
  return isExpiry(expires) ? undefined : 'suspension_expiry_malformed';
}

function isText(text: unknown, most: number): text is string {
  return (
    typeof text === 'string' && text !== '' && text.length <= most && isWellFormed(text) && !text.includes('\u0000')
  );
}

function isPolicy(policy: ResumePolicy, subscriptions: number): boolean {
  if (policy === 'first_match' || policy === 'all') return true;
  if (typeof policy !== 'object' || policy === null) return false;
  return Number.isInteger(policy.any) && policy.any >= 1 && policy.any <= subscriptions;
}

function isExpiry(expires: Expiry | undefined): boolean {
  if (expires === undefined) return true;
  if (typeof expires !== 'object' || expires === null) return false;
  if ('inMs' in expires) {
    return Number.isInteger(expires.inMs) && expires.inMs >= 0 && expires.inMs <= suspensionLimits.expiresInMs;
  }
  return isInstant(expires.at);
}

function isInstant(text: unknown): boolean {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.test(text))
    return false;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && /^(?!0000)\d{4}-/.test(date.toISOString());
}

export function instantOf(expires: Expiry | undefined, now: Date): Date | null {
  if (expires === undefined) return null;
  return 'inMs' in expires ? new Date(now.getTime() + expires.inMs) : new Date(expires.at);
}

/** Every subscription type that an input type matches: itself and each of its prefixes. */
export function matchingTypes(type: string): string[] {
  const segments = type.split('.');
  return [type, ...segments.slice(1).map((_, index) => `${segments.slice(0, index + 1).join('.')}.*`)];
}
