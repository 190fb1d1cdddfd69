/**
 * Cursors: an opaque text that names a place in one list. It is authenticated and bound to the list it was given out for
 * (route, path, filters and reader), so a made-up cursor and one of another list are refused alike, and never read as a
 * place. Layout before base64url: version (1) · HMAC-SHA256 cut to 16 bytes · the place as JSON.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { fromBase64url, fromUtf8, Problem, toBase64url, toUtf8 } from '../protocol/index.js';

/** The values that a row is sorted by in its list. */
export type Place = readonly (string | number)[];

export interface Cursors {
  give(list: string, place: Place): string;
  /** Throws `Problem('cursor_invalid')` for whatever `give` did not make for this list. */
  take(list: string, cursor: string): Place;
}

export const cursorText = z.string().min(1).max(2_048);

const version = 1;
const macBytes = 16;
const headBytes = 1 + macBytes;
const placeShape = z
  .array(z.union([z.string(), z.int()]))
  .min(1)
  .max(8);

export function createCursors(key: Uint8Array): Cursors {
  const macOf = (list: string, place: Uint8Array) =>
    createHmac('sha256', key)
      .update(`hearth cursor ${version}\n${list.length}\n${list}\n`)
      .update(place)
      .digest()
      .subarray(0, macBytes);

  return {
    give(list, place) {
      const bytes = toUtf8(JSON.stringify(place));
      return toBase64url(Buffer.concat([Uint8Array.of(version), macOf(list, bytes), bytes]));
    },
    take(list, cursor) {
      const bytes = fromBase64url(cursor);
      if (!bytes || bytes[0] !== version || bytes.byteLength <= headBytes) throw invalid();
      const place = bytes.subarray(headBytes);
      if (!timingSafeEqual(bytes.subarray(1, headBytes), macOf(list, place))) throw invalid();
      return placeShape.parse(JSON.parse(fromUtf8(place) ?? ''));
    },
  };
}

function invalid(): Problem {
  return new Problem('cursor_invalid', 'the cursor was not given out for this list');
}
