/**
 * A schedule: when an input is to be made. `active` (a next slot is known) → `ended` (no slot is left, or what it says cannot
 * be computed or accepted) or `cancelled`; `ended` → `active` when another rule is set under its key. What fires is an input like any other, so subscriptions, waits and decisions apply to it (F15).
 */
import { z } from 'zod';
import { type JsonValue, LIMITS, Problem } from '../../protocol/index.js';
import { depthOf, inputLimits, type TrustClass } from '../input/index.js';
import { firstSlot } from './slots.js';

export const scheduleLimits = {
  perAgent: 1_000,
  dataBytes: 16 * 1024,
  keyChars: 128,
  /** How far ahead anything may be set. */
  horizonMs: 10 * 365 * 24 * 3_600_000,
  leastHeartbeatS: 1,
  mostHeartbeatS: 366 * 24 * 3_600,
  /** Slots that are made up for one by one; what is missed beyond becomes one more. */
  madeUp: 100,
  /** With `none`, what is later than this is passed over. */
  graceMs: 60_000,
} as const;

/** Begins the keys of what the domain sets by itself. */
export const watchPrefix = 'expiry:';

export type CatchUp = 'one' | 'none' | 'all';
type ScheduleKind = 'timer' | 'cron' | 'heartbeat' | 'deadline' | 'expiry';
type ScheduleStatus = 'active' | 'ended' | 'cancelled';

const instant = z.iso.datetime({ offset: true });
const lead = z
  .int()
  .min(0)
  .max(366 * 24 * 3_600);

const timer = z.strictObject({ kind: z.literal('timer'), at: instant });
const cron = z.strictObject({
  kind: z.literal('cron'),
  /** Five fields: minute, hour, day of month, month, day of week. */
  cron: z.string().max(128),
  /** An IANA time zone. */
  zone: z.string().max(64).default('UTC'),
});
const heartbeat = z.strictObject({
  kind: z.literal('heartbeat'),
  every_s: z.int().min(scheduleLimits.leastHeartbeatS).max(scheduleLimits.mostHeartbeatS),
  from: instant.optional(),
});
const deadline = z.strictObject({ kind: z.literal('deadline'), at: instant, lead_s: lead.default(0) });

/** What may be asked for. Instants in ISO 8601; `lead_s` says how long before there is a warning. */
const askedRule = z.discriminatedUnion('kind', [timer, cron, heartbeat, deadline]);

/** With what the domain sets by itself: nobody else may say that something has expired. */
export const ruleSchema = z.discriminatedUnion('kind', [
  timer,
  cron,
  heartbeat,
  deadline.extend({ of: z.literal('commitment').optional() }),
  z.strictObject({ kind: z.literal('expiry'), at: instant, lead_s: lead.default(0) }),
]);

export type ScheduleRule = z.infer<typeof ruleSchema>;

export interface ScheduleRecord {
  home: string;
  id: string;
  tenant: string;
  /** Who made it. */
  owner: string;
  trustClass: TrustClass;
  key: string | null;
  kind: ScheduleKind;
  rule: ScheduleRule;
  deliver: 'command' | 'event';
  catchUp: CatchUp;
  agent: string | null;
  sessionId: string | null;
  subject: string | null;
  data: JsonValue;
  status: ScheduleStatus;
  nextFireAt: Date | null;
  lastSlotAt: Date | null;
  firedCount: number;
  endedReason: string | null;
  createdAt: Date;
}

/** The first slot of a rule, or `Problem('schema_invalid')` for one that never comes or is too far away. */
export function requireFirstSlot(rule: ScheduleRule, now: Date): Date {
  const first = firstSlot(rule, now);
  if (!first) throw new Problem('schema_invalid', 'the schedule has no slot');
  const aheadMs = first.at.getTime() - now.getTime();
  if (aheadMs > scheduleLimits.horizonMs) {
    throw new Problem('schema_invalid', 'the first slot is more than ten years ahead');
  }
  if (aheadMs < -scheduleLimits.horizonMs) throw new Problem('schema_invalid', 'the slot is more than ten years ago');
  return first.at;
}

export function checkData(data: JsonValue | undefined): void {
  if (data === undefined) return;
  if (Buffer.byteLength(JSON.stringify(data)) > scheduleLimits.dataBytes) {
    throw new Problem('too_large', `data: larger than ${scheduleLimits.dataBytes} bytes`);
  }
  // The input wraps it once more.
  if (depthOf(data) >= inputLimits.dataDepth) {
    throw new Problem('schema_invalid', `data: nested deeper than ${inputLimits.dataDepth - 1}`);
  }
}

/** What a caller gives, whichever door it comes through. */
export const scheduleShape = z.strictObject({
  rule: askedRule,
  key: z
    .string()
    .min(1)
    .max(scheduleLimits.keyChars)
    .refine((key) => !key.startsWith(watchPrefix), 'is a name that the domain keeps for itself')
    .optional(),
  deliver: z.enum(['command', 'event']).default('command'),
  catch_up: z.enum(['one', 'none', 'all']).default('one'),
  session: z.string().max(LIMITS.identifierBytes).optional(),
  subject: z.string().min(1).max(LIMITS.shortTextChars).optional(),
  data: z.custom<JsonValue>(() => true).optional(),
});

/** A draft of the domain's own may have any rule. */
export type ScheduleDraft = Omit<z.infer<typeof scheduleShape>, 'rule'> & { rule: ScheduleRule };
