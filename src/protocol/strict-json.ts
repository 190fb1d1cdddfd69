/**
 * JSON as the wire allows it. Everything that two parsers could read differently is refused before anything is built:
 * duplicate members (escaped or not), `__proto__`, lone surrogates, NUL, unsafe numbers, depth, BOM, malformed UTF-8.
 */

import { fromUtf8 } from './encoding.js';
import { LIMITS } from './limits.js';
import { Problem } from './problem.js';

export type JsonValue = null | boolean | number | string | JsonValue[] | { [member: string]: JsonValue };
export type JsonObject = { [member: string]: JsonValue };

export type StrictJsonLimits = { readonly maxBytes: number; readonly maxDepth?: number };

const NUMBER = /-?[0-9][0-9+\-.eE]*/y;
const WHITE_SPACE = /[ \t\n\r]*/y;

/** Parses, or throws `Problem('malformed_json' | 'too_large')` that names what is wrong and where. */
export function parseStrictJson(input: Uint8Array | string, limits: StrictJsonLimits): JsonValue {
  const text = readText(input, limits.maxBytes);
  scan(text, limits.maxDepth ?? LIMITS.jsonDepth);
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new Problem('malformed_json', 'the text does not follow the JSON grammar', { cause });
  }
}

/** True for a string that has no lone surrogate, so that it has exactly one UTF-8 form. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

function readText(input: Uint8Array | string, maxBytes: number): string {
  const size = typeof input === 'string' ? Buffer.byteLength(input) : input.byteLength;
  if (size > maxBytes) throw new Problem('too_large', `${size} bytes of JSON where ${maxBytes} are allowed`);
  const text = typeof input === 'string' ? input : fromUtf8(input);
  if (text === undefined) throw new Problem('malformed_json', 'the bytes are not UTF-8');
  if (text.startsWith('\uFEFF')) throw new Problem('malformed_json', 'the text starts with a byte order mark');
  if (!isWellFormed(text)) throw new Problem('malformed_json', 'the text holds a lone surrogate');
  return text;
}

/** One pass over the characters. It judges only what JSON.parse would let through; the grammar is left to JSON.parse. */
function scan(text: string, maxDepth: number): void {
  // One entry per open bracket: the member names seen so far, or undefined inside an array.
  const open: (Set<string> | undefined)[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      at = scanString(text, at, open.at(-1));
    } else if (char === '{' || char === '[') {
      if (open.length >= maxDepth) fail(`nested deeper than ${maxDepth}`, at);
      open.push(char === '{' ? new Set() : undefined);
      at += 1;
    } else if (char === '}' || char === ']') {
      open.pop();
      at += 1;
    } else if (char !== undefined && (char === '-' || (char >= '0' && char <= '9'))) {
      at = scanNumber(text, at);
    } else {
      at += 1;
    }
  }
}

/** Reads one string; in an object, a string that a colon follows is a member name. Returns the position after it. */
function scanString(text: string, start: number, members: Set<string> | undefined): number {
  const end = endOfString(text, start);
  const isName = members !== undefined && isMemberName(text, end);
  const raw = text.slice(start, end);
  // The text as a whole is well-formed: only an escape can bring a lone surrogate or NUL into a value.
  if (!isName && !raw.includes('\\u')) return end;
  const value = raw.includes('\\') ? unescapeString(raw, start) : raw.slice(1, -1);
  if (!isWellFormed(value)) fail('a string escapes a lone surrogate', start);
  if (value.includes('\u0000')) fail('a string holds NUL', start);
  if (isName) {
    if (value === '__proto__') fail('a member is named __proto__', start);
    if (members.has(value)) fail(`the member ${JSON.stringify(value.slice(0, 64))} appears twice`, start);
    members.add(value);
  }
  return end;
}

/** The first quote that an even number of backslashes precedes. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text[before] === '\\') before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return fail('a string does not end', start);
}

function unescapeString(raw: string, start: number): string {
  try {
    return JSON.parse(raw) as string;
  } catch (cause) {
    throw new Problem('malformed_json', `a string is malformed, at character ${start}`, { cause });
  }
}

function isMemberName(text: string, end: number): boolean {
  WHITE_SPACE.lastIndex = end;
  WHITE_SPACE.exec(text);
  return text[WHITE_SPACE.lastIndex] === ':';
}

function scanNumber(text: string, start: number): number {
  NUMBER.lastIndex = start;
  if (!NUMBER.exec(text)) fail('a minus sign stands alone', start);
  const end = NUMBER.lastIndex;
  const value = Number(text.slice(start, end));
  if (Number.isNaN(value)) fail('a number is malformed', start);
  if (!Number.isFinite(value)) fail('a number is too large', start);
  // Beyond 2^53 a parser may lose digits: such numbers travel as decimal strings.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) fail('an integer passes 2^53 - 1', start);
  return end;
}

function fail(what: string, at: number): never {
  throw new Problem('malformed_json', `${what}, at character ${at}`);
}
