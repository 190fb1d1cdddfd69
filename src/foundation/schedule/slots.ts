/**
 * Which slots a rule has. Pure: the same rule and the same instants give the same slots in every process. Cron follows the
 * local time of its zone: a local time that a clock change leaves out is the first instant after the gap, one that comes
 * twice is the first of the two; what repeats within the hour goes on through both.
 */
import { Cron } from 'croner';
import { Problem } from '../../protocol/index.js';
import type { CatchUp, ScheduleRule } from './schedule.js';

export interface Slot {
  at: Date;
  /** The type of the input that it makes. */
  type: string;
}

export interface Firing extends Slot {
  /** Slots before this one that are not made up for. */
  missed: number;
}

export interface Due {
  firings: Firing[];
  next: Slot | undefined;
}

export interface Looking {
  now: Date;
  catchUp: CatchUp;
  /** With `all`: how many are made up for one by one. */
  madeUp: number;
  /** With `none`: what is later than this is passed over. */
  graceMs: number;
}

/** Missed slots are counted no further. */
const counted = 1_000;

export function firstSlot(rule: ScheduleRule, now: Date): Slot | undefined {
  switch (rule.kind) {
    case 'timer':
      return { at: new Date(rule.at), type: 'timer.expired' };
    case 'heartbeat':
      return rule.from === undefined ? slotAfter({ ...rule, from: now.toISOString() }, now) : slotAfter(rule, now);
    case 'deadline':
    case 'expiry':
      return slotAfter(rule, now) ?? { at: new Date(rule.at), type: `${wordOf[rule.kind]}.${endOf[rule.kind]}` };
    case 'cron':
      return slotAfter(rule, now);
  }
}

const wordOf = { deadline: 'deadline', expiry: 'lease' } as const;
const warningOf = { deadline: 'approaching', expiry: 'expiring' } as const;
const endOf = { deadline: 'reached', expiry: 'expired' } as const;

/** The next slot later than `after`. */
export function slotAfter(rule: ScheduleRule, after: Date): Slot | undefined {
  switch (rule.kind) {
    case 'timer':
      return undefined;
    case 'cron': {
      const at = parseCron(rule).nextRun(after);
      return at ? { at, type: 'schedule.fired' } : undefined;
    }
    case 'heartbeat': {
      const fromMs = new Date(rule.from ?? after).getTime();
      const everyMs = rule.every_s * 1000;
      const beats = Math.max(0, Math.floor((after.getTime() - fromMs) / everyMs) + 1);
      return { at: new Date(fromMs + beats * everyMs), type: 'heartbeat.due' };
    }
    case 'deadline':
    case 'expiry': {
      const at = new Date(rule.at);
      const warning = new Date(at.getTime() - rule.lead_s * 1000);
      if (rule.lead_s > 0 && warning > after)
        return { at: warning, type: `${wordOf[rule.kind]}.${warningOf[rule.kind]}` };
      return at > after ? { at, type: `${wordOf[rule.kind]}.${endOf[rule.kind]}` } : undefined;
    }
  }
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
    case 'deadline':
    case 'expiry': {
      const over = at.getTime() >= new Date(rule.at).getTime();
      return { at, type: `${wordOf[rule.kind]}.${over ? endOf[rule.kind] : warningOf[rule.kind]}` };
    }
  }
}

/** What is due now of a rule whose next slot is `slot`, and what comes after. */
export function dueSlots(rule: ScheduleRule, slot: Slot, looking: Looking): Due {
  const { now } = looking;
  if (slot.at > now) return { firings: [], next: slot };
  const next = slotAfter(rule, now);
  if (rule.kind !== 'cron' && rule.kind !== 'heartbeat') return { firings: [lastOf(rule, slot, now)], next };
  const due = dueFrom(rule, slot, now);
  switch (looking.catchUp) {
    case 'none': {
      const latest = due.at(-1);
      const inTime = latest !== undefined && now.getTime() - latest.at.getTime() <= looking.graceMs;
      return { firings: inTime ? [{ ...latest, missed: due.length - 1 }] : [], next };
    }
    case 'one':
      return { firings: [{ ...slot, missed: due.length - 1 }], next };
    case 'all': {
      const made = due.slice(0, looking.madeUp);
      const [over] = due.slice(looking.madeUp);
      const rest = over ? [{ ...over, missed: due.length - made.length - 1 }] : [];
      return { firings: [...made.map((each) => ({ ...each, missed: 0 })), ...rest], next };
    }
  }
}

/** Of a warning and its end that are both over, the end is what is still true. */
function lastOf(rule: ScheduleRule, slot: Slot, now: Date): Firing {
  const after = slotAfter(rule, slot.at);
  return after && after.at <= now ? { ...after, missed: 1 } : { ...slot, missed: 0 };
}

function dueFrom(rule: ScheduleRule, slot: Slot, now: Date): Slot[] {
  const due: Slot[] = [slot];
  for (let next = slotAfter(rule, slot.at); next && next.at <= now; next = slotAfter(rule, next.at)) {
    if (due.length > counted) break;
    due.push(next);
  }
  return due;
}

/** Throws `Problem('schema_invalid')` for what is no cron expression or no time zone. */
export function parseCron({ cron, zone }: { cron: string; zone: string }): Cron {
  if (cron.trim().split(/\s+/).length !== 5) {
    throw new Problem('schema_invalid', 'cron: needs five fields: minute, hour, day of month, month, day of week');
  }
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch (cause) {
    throw new Problem('schema_invalid', `zone: ${zone} is not a known time zone`, { cause });
  }
  try {
    return new Cron(cron, { timezone: zone, paused: true });
  } catch (cause) {
    throw new Problem('schema_invalid', `cron: ${cron} cannot be read`, { cause });
  }
}
