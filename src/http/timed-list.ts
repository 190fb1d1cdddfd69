// What the lists sorted by time have in common at the door: the range that is asked for, and the page or refusal it gives.
import { z } from 'zod';
import type { TimedPlace, TimedRange, TimedRows } from '../foundation/index.js';
import { type List, numberAt, refuseCursor, textAt, timedPageOf } from './page.js';

/** `since` and `until` of a list: rows not before the one and before the other. */
export const timeFilter = {
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
};

export function timesOf({ since, until }: { since?: string | undefined; until?: string | undefined }) {
  return {
    since: since === undefined ? undefined : new Date(since),
    until: until === undefined ? undefined : new Date(until),
  };
}

/** One row more than the page has tells whether there is a next one. */
export function rangeOf({ from, backwards, limit }: List): TimedRange {
  const place = from && { atUs: numberAt(from) ?? 0, id: textAt(from, 1) ?? '', inclusive: numberAt(from, 2) === 1 };
  return { from: place, backwards, limit: limit + 1 };
}

export function timedPage<Row extends { id: string }>(list: List, found: TimedRows<Row>) {
  switch (found.kind) {
    case 'rows':
      return timedPageOf(list, found.rows, placeOf);
    case 'ahead':
      return refuseCursor(list, found);
    case 'gap':
      return refuseCursor(list, {
        kind: 'gap', // From the oldest on, itself included: nothing of what is kept is passed over.
        oldest: found.oldest && [...placeOf(found.oldest), 1],
      });
  }
}

function placeOf({ atUs, id }: TimedPlace) {
  return [atUs, id] as const;
}
