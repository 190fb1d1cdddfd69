/** RFC 8785 (JCS), strict: what has no single JSON form throws instead of being repaired. */

import { LIMITS } from './limits.js';
import { isWellFormed } from './strict-json.js';

/** The canonical text. Throws TypeError on anything but JSON: undefined, NaN, lone surrogates, class instances, depth. */
export function canonicalize(value: unknown): string {
  return write(value, 0);
}

function write(value: unknown, depth: number): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return writeString(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError('a number is not finite');
    return JSON.stringify(value);
  }
  // The depth bound makes the recursion safe: parsed input is bounded by the same number.
  if (depth >= LIMITS.jsonDepth) throw new TypeError(`nested deeper than ${LIMITS.jsonDepth}`);
  if (Array.isArray(value)) return `[${Array.from(value, (item) => write(item, depth + 1)).join(',')}]`;
  if (isPlainObject(value)) return writeObject(value, depth);
  throw new TypeError(`${typeof value} has no JSON form`);
}

function writeObject(value: Record<string, unknown>, depth: number): string {
  // The default order of sort compares UTF-16 code units, which is what RFC 8785 asks for.
  const members = Object.keys(value)
    .sort()
    .map((name) => `${writeString(name)}:${write(value[name], depth + 1)}`);
  return `{${members.join(',')}}`;
}

function writeString(text: string): string {
  if (!isWellFormed(text)) throw new TypeError('a string holds a lone surrogate');
  return JSON.stringify(text);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
