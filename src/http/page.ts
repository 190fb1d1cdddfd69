/**
 * Lists come in pages. A list goes one way by `cursor`; one that is sorted by time can also be read backwards with `before`.
 * A log is read by `after` and always gives a cursor to go on from, because it grows.
 */
import { z } from 'zod';
import { canonicalize, Problem } from '../protocol/index.js';
import { type Cursors, cursorText, type Place } from './cursor.js';
import { callerIn, type DoorContext } from './endpoint.js';

const pageLimit = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/, 'a number from 1 to 200')
  .transform(Number)
  .pipe(z.number().max(200))
  .default(50);

/** A position in a numbered log of the wire between domains, where it is part of the protocol; 0 is before the first. */
export const position = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,15})$/, 'a position')
  .transform(Number)
  .pipe(z.number().max(Number.MAX_SAFE_INTEGER));

export const pageQuery = z.strictObject({ limit: pageLimit, cursor: cursorText.optional() });

/** Of a list sorted by time, the newest first. */
export const timedQuery = pageQuery.extend({ before: cursorText.optional() });

export const logQuery = z.strictObject({ limit: pageLimit, after: cursorText.optional() });

export interface Page<Row> {
  items: Row[];
  next_cursor: string | null;
}

export interface TimedPage<Row> extends Page<Row> {
  /** Give it as `before` for what is newer than this page; null when the list is empty. */
  previous_cursor: string | null;
}

type Asked = { limit: number; cursor?: string | undefined; before?: string | undefined; after?: string | undefined };

/** One reader's way through one list: the route with its path and filters, as this caller sees it. */
export interface List {
  limit: number;
  /** Where to go on from, and which way. */
  from: Place | undefined;
  backwards: boolean;
  cursorAt(place: Place): string;
}

export function listOf(ctx: DoorContext, { limit, cursor, before, after, ...filters }: Asked): List {
  if (cursor !== undefined && before !== undefined) {
    throw new Problem('schema_invalid', 'before: a page goes on from one cursor only');
  }
  const cursors: Cursors = ctx.state.cursors;
  const reader = callerIn(ctx)?.home ?? '';
  const list = canonicalize({ path: ctx.path, reader, filters: JSON.parse(JSON.stringify(filters)) });
  const given = cursor ?? before ?? after;
  return {
    limit,
    from: given === undefined ? undefined : cursors.take(list, given),
    backwards: before !== undefined,
    cursorAt: (place) => cursors.give(list, place),
  };
}

/** Rows were read one beyond the limit, to know whether there is a next page. */
export function pageOf<Row>(list: List, rows: readonly Row[], placeOf: (row: Row) => Place): Page<Row> {
  const items = rows.slice(0, list.limit);
  const last = items.at(-1);
  const more = rows.length > list.limit && last !== undefined;
  return { items, next_cursor: more ? list.cursorAt(placeOf(last)) : null };
}

/** Rows of either direction, the newest first, at most one beyond the limit at the far end. */
export function timedPageOf<Row>(list: List, rows: readonly Row[], placeOf: (row: Row) => Place): TimedPage<Row> {
  const { limit, backwards, from } = list;
  const items = backwards ? rows.slice(-limit) : rows.slice(0, limit);
  const [first, last] = [items[0], items.at(-1)];
  // Behind a page that was read backwards lies at least the row it was read from.
  const more = backwards ? last !== undefined : rows.length > limit;
  const newest = first ? placeOf(first) : from;
  return {
    items,
    next_cursor: more && last !== undefined ? list.cursorAt(placeOf(last)) : null,
    previous_cursor: newest === undefined ? null : list.cursorAt(newest),
  };
}

export type CursorFault = { kind: 'ahead' } | { kind: 'gap'; oldest: Place | undefined };

/** BR-38: a reader whose cursor lies outside what is kept is told so, and from where it can go on. */
export function refuseCursor(list: List, fault: CursorFault): never {
  if (fault.kind === 'ahead') {
    throw new Problem('cursor_ahead', 'the cursor lies beyond the newest entry');
  }
  throw new Problem('cursor_gap', 'what followed this cursor is not kept any more', {
    extra: fault.oldest === undefined ? {} : { oldest_cursor: list.cursorAt(fault.oldest) },
  });
}

/** The place of a list that is sorted by one text, such as a name. */
export function textAt(place: Place | undefined, index = 0): string | undefined {
  const value = place?.[index];
  return typeof value === 'string' ? value : undefined;
}

export function numberAt(place: Place | undefined, index = 0): number | undefined {
  const value = place?.[index];
  return typeof value === 'number' ? value : undefined;
}
