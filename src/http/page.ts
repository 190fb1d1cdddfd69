// Lists come in pages: a limit of at most 200 and an opaque cursor that names the last row of the page before.
import { z } from 'zod';
import { fromBase64url, fromUtf8, Problem, toBase64url, toUtf8 } from '../protocol/index.js';

export const pageLimit = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/, 'a number from 1 to 200')
  .transform(Number)
  .pipe(z.number().max(200))
  .default(50);

/** A position in a numbered log; 0 is before the first. */
export const position = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,15})$/, 'a position')
  .transform(Number)
  .pipe(z.number().max(Number.MAX_SAFE_INTEGER));

export const pageQuery = z.strictObject({ limit: pageLimit, cursor: z.string().max(512).optional() });

export interface Page<Row> {
  items: Row[];
  next_cursor: string | null;
}

/** Rows were read one beyond the limit, to know whether there is a next page. */
export function pageOf<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => string): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, next_cursor: more ? encodeCursor(keyOf(last)) : null };
}

export function encodeCursor(key: string): string {
  return toBase64url(toUtf8(key));
}

export function decodeCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const bytes = fromBase64url(cursor);
  const key = bytes && fromUtf8(bytes);
  if (key === undefined || key.includes('\u0000'))
    throw new Problem('schema_invalid', 'cursor: not one that was given out here');
  return key;
}
