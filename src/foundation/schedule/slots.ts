/**
 * Which slots a rule has, and which of them are made up for after a standstill. Pure: the same rule and the same instants give
 * the same slots in every process.
 */
import { cronSlots } from './cron-slots.js';
import type { CatchUp, ScheduleRule } from './schedule.js';

export interface Slot {
  at: Date;
  /** The type of the input that it makes. */
  type: string;
}

export interface Firing extends Slot {
  /** Slots that are not made up for: those after this one, or before it with `none`. */
  missed: number;
}

export interface Due {
  firings: Firing[];
  next: Slot | undefined;
  /** How many slots had to be looked at. */
  looked: number;
}

export interface Looking {
  now: Date;
  catchUp: CatchUp;
  /** With `all`: how many are made up for one by one. */
  madeUp: number;
  /** With `none`: what is later than this is passed over. */
  graceMs: number;
}

/** Missed slots of a cron expression are counted no further. */
const counted = 1_000;

export function firstSlot(rule: ScheduleRule, now: Date): Slot | undefined {
  switch (rule.kind) {
    case 'timer':
      return slotAt(rule, new Date(rule.at));
    case 'heartbeat':
    case 'cron':
      return slotsOf(rule)(now);
    case 'deadline':
    case 'expiry':
      return slotsOf(rule)(now) ?? slotAt(rule, new Date(rule.at));
  }
}

/** The slots of a rule: the first one later than an instant. */
export function slotsOf(rule: ScheduleRule): (after: Date) => Slot | undefined {
  switch (rule.kind) {
    case 'timer':
      return laterOf(rule, [new Date(rule.at)]);
    case 'deadline':
    case 'expiry': {
      const at = new Date(rule.at);
      const warning = new Date(at.getTime() - rule.lead_s * 1000);
      return laterOf(rule, rule.lead_s > 0 ? [warning, at] : [at]);
    }
    case 'heartbeat':
      return (after) => {
        const fromMs = new Date(rule.from ?? after).getTime();
        const everyMs = rule.every_s * 1000;
        const beats = Math.max(0, Math.floor((after.getTime() - fromMs) / everyMs) + 1);
        return slotAt(rule, new Date(fromMs + beats * everyMs));
      };
    case 'cron': {
      const next = cronSlots(rule);
      return (after) => {
        const at = next(after);
        return at && slotAt(rule, at);
      };
    }
  }
}

function laterOf(rule: ScheduleRule, all: readonly Date[]): (after: Date) => Slot | undefined {
  return (after) => {
    const at = all.find((each) => each > after);
    return at && slotAt(rule, at);
  };
}

/** The slot that stands at an instant, as it was computed before. */
export function slotAt(rule: ScheduleRule, at: Date): Slot {
  switch (rule.kind) {
    case 'timer':
      return { at, type: 'timer.expired' };
    case 'cron':
      return { at, type: 'schedule.fired' };
    case 'heartbeat':
      return { at, type: 'heartbeat.due' };
    case 'deadline': {
      const name = rule.of === 'commitment' ? 'commitment.deadline_' : 'deadline.';
      return { at, type: `${name}${isEnd(rule, at) ? 'reached' : 'approaching'}` };
    }
    case 'expiry':
      return { at, type: isEnd(rule, at) ? 'lease.expired' : 'lease.expiring' };
  }
}

function isEnd(rule: { at: string }, at: Date): boolean {
  return at.getTime() >= new Date(rule.at).getTime();
}

/** What is due now of a rule whose next slot is `slot`, and what comes after. */
export function dueSlots(rule: ScheduleRule, slot: Slot, looking: Looking): Due {
  const { now, catchUp, madeUp } = looking;
  if (slot.at > now) return { firings: [], next: slot, looked: 0 };
  const after = slotsOf(rule);
  const next = after(now);
  const { first, count, looked } = dueFrom({ rule, slot, after }, looking);
  const due = { next, looked };
  switch (catchUp) {
    case 'none': {
      const latest = latestInTime(slot, after, looking);
      return { ...due, firings: latest ? [{ ...latest, missed: count - 1 }] : [] };
    }
    case 'one': {
      // Of a warning and its end that are both over, the end is what is still true.
      const one = 'lead_s' in rule ? first.at(-1) : first[0];
      return { ...due, firings: [{ ...(one ?? slot), missed: count - 1 }] };
    }
    case 'all': {
      const made = first.slice(0, madeUp).map((each) => ({ ...each, missed: 0 }));
      const [over] = first.slice(madeUp);
      const rest = over ? [{ ...over, missed: count - made.length - 1 }] : [];
      return { ...due, firings: [...made, ...rest] };
    }
  }
}

interface Overdue {
  rule: ScheduleRule;
  slot: Slot;
  after: (after: Date) => Slot | undefined;
}

/** The first slots that are due, as many as could be fired, and how many there are. */
function dueFrom({ rule, slot, after }: Overdue, { now, madeUp }: Looking) {
  const first = [slot];
  let count = 1;
  for (let next = after(slot.at); next && next.at <= now; next = after(next.at)) {
    if (first.length > madeUp && (rule.kind === 'heartbeat' || count >= counted)) break;
    if (first.length <= madeUp) first.push(next);
    count += 1;
  }
  const looked = count;
  if (rule.kind === 'heartbeat') count = Math.floor((now.getTime() - slot.at.getTime()) / (rule.every_s * 1000)) + 1;
  return { first, count, looked };
}

function latestInTime(slot: Slot, after: Overdue['after'], { now, graceMs }: Looking): Slot | undefined {
  let latest = slot.at.getTime() >= now.getTime() - graceMs ? slot : undefined;
  const from = latest?.at ?? new Date(now.getTime() - graceMs - 1);
  for (let next = after(from); next && next.at <= now; next = after(next.at)) latest = next;
  return latest;
}
