/** RFC 8785 (JCS), strict: what has no single JSON form throws instead of being repaired. */

import { LIMITS } from './limits.js';
import { Problem } from './problem.js';
import { isWellFormed, type JsonValue, parseStrictJson, type StrictJsonLimits } from './strict-json.js';

/** The canonical text. Throws TypeError on anything but JSON: undefined, NaN, lone surrogates, class instances, depth. */
export function canonicalize(value: unknown): string {
  return write(value, 0);
}

export type ReadCanonical =
  | { kind: 'canonical'; value: JsonValue }
  | { kind: 'not_canonical'; value: JsonValue }
  | { kind: 'malformed'; detail: string };

/** Reads strict JSON that has to be spelled canonically. */
export function readCanonicalJson(text: string, limits: StrictJsonLimits): ReadCanonical {
  const plain = Buffer.byteLength(text) <= limits.maxBytes ? readPlainObject(text) : undefined;
  if (plain) return { kind: 'canonical', value: plain };
  try {
    const value = parseStrictJson(text, limits);
    return { kind: canonicalize(value) === text ? 'canonical' : 'not_canonical', value };
  } catch (error) {
    if (error instanceof Problem) return { kind: 'malformed', detail: error.detail };
    throw error;
  }
}

/**
 * The quick way for what envelopes' headers are: an object of strings and lists of strings. With its names in order, and
 * given back unchanged by JSON.stringify, it has one reading and is canonical. Escapes by number, where NUL and lone
 * surrogates could hide, are left to the strict reader.
 */
function readPlainObject(text: string): JsonValue | undefined {
  if (text.includes('\\u') || text.includes('__proto__') || !isWellFormed(text)) return undefined;
  try {
    const value: JsonValue = JSON.parse(text);
    return hasSortedStrings(value) && JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

function hasSortedStrings(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  let previous: string | undefined;
  for (const [name, member] of Object.entries(value)) {
    const plain =
      typeof member === 'string' || (Array.isArray(member) && member.every((item) => typeof item === 'string'));
    if (!plain || (previous !== undefined && previous >= name)) return false;
    previous = name;
  }
  return true;
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
