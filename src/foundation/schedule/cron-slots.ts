/**
 * When a cron expression comes next in a time zone. Pure but for the zone data of the platform. croner says which local times
 * match; what a clock change makes of them is decided here: a local time that is left out is the first instant after the gap,
 * one that comes twice is the first of the two. An expression for every hour goes on through both, as time itself does.
 */
import { Cron } from 'croner';
import { Problem } from '../../protocol/index.js';

/** The first slot later than an instant; undefined when none is left. */
export type NextSlot = (after: Date) => Date | undefined;

interface Local {
  /** The next local time that matches, both as if they were in UTC. */
  next(wallMs: number): number | undefined;
  /** How far local time is ahead of UTC. */
  offsetMs(instantMs: number): number;
}

const hourMs = 3_600_000;
/** Further than any clock change, or change of date, moves local time. */
const aroundMs = 26 * hourMs;
/** No clock is put back by more. */
const foldMs = 3 * hourMs;
/** Local times that come twice lie behind the instant that is asked about; a day of minutes is more than any zone repeats. */
const passedOver = 1_500;
const everyHour = new Set(['*', '?', '*/1', '0-23']);

/** Throws `Problem('schema_invalid')` for what is no cron expression or no time zone. */
export function cronSlots({ cron, zone }: { cron: string; zone: string }): NextSlot {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5) {
    throw new Problem('schema_invalid', 'cron: needs five fields: minute, hour, day of month, month, day of week');
  }
  const local = { next: nextOf(cron), offsetMs: offsetOf(zone) };
  const after = everyHour.has(fields[1] ?? '') ? nextThrough : nextOnce;
  return (instant) => {
    const at = after(local, instant.getTime());
    return at === undefined ? undefined : new Date(at);
  };
}

function nextOf(cron: string): Local['next'] {
  try {
    const matches = new Cron(cron, { utcOffset: 0, paused: true });
    return (wallMs) => matches.nextRun(new Date(wallMs))?.getTime();
  } catch (cause) {
    throw new Problem('schema_invalid', `cron: ${cron} cannot be read`, { cause });
  }
}

function offsetOf(zone: string): Local['offsetMs'] {
  try {
    const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
    return (instantMs) => readOffset(format.format(instantMs));
  } catch (cause) {
    throw new Problem('schema_invalid', `zone: ${zone} is not a known time zone`, { cause });
  }
}

/** `… GMT` or `… GMT+05:30`; seconds stand only in zones of long ago. */
function readOffset(text: string): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(text) ?? [];
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ms : ms;
}

/** Each local time is one instant, however often the clock shows it. */
function nextOnce(local: Local, afterMs: number): number | undefined {
  let wall = local.next(afterMs + local.offsetMs(afterMs));
  for (let seen = 0; wall !== undefined && seen < passedOver; seen += 1) {
    const at = instantOf(local, wall);
    if (at > afterMs) return at;
    wall = local.next(wall);
  }
  return undefined;
}

/** Each instant at which the clock shows a matching time. */
function nextThrough(local: Local, afterMs: number): number | undefined {
  const offset = local.offsetMs(afterMs);
  const wall = local.next(afterMs + offset);
  if (wall === undefined) return undefined;
  if (local.offsetMs(afterMs + foldMs) === offset) {
    return local.offsetMs(wall - offset) === offset ? wall - offset : nextOnce(local, afterMs);
  }
  const change = changeWithin(local, afterMs, afterMs + foldMs);
  if (wall - offset < change) return wall - offset;
  const changed = local.offsetMs(change);
  const first = local.next(change + changed - 1000);
  return first === undefined ? undefined : first - changed;
}

function instantOf({ offsetMs }: Local, wall: number): number {
  const [before, behind] = [offsetMs(wall - aroundMs), offsetMs(wall + aroundMs)];
  const candidates = [wall - Math.max(before, behind), wall - Math.min(before, behind)];
  const shown = candidates.find((at) => at + offsetMs(at) === wall);
  if (shown !== undefined) return shown;
  const [from = wall, to = wall] = candidates;
  return changeWithin({ offsetMs }, from, to);
}

/** The first instant with another offset than `fromMs`, where `toMs` has another. */
function changeWithin({ offsetMs }: Pick<Local, 'offsetMs'>, fromMs: number, toMs: number): number {
  const offset = offsetMs(fromMs);
  let [low, high] = [fromMs, toMs];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}
