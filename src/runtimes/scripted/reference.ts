/** References in a script's values: `{"$ref": "/pointer"}` for a value, `{{/pointer}}` inside a string for its text. */
import type { JsonValue } from '../../protocol/index.js';

/** What a script may refer to: `activation`, `inputs`, `first`, `vars` and `steered`. */
export type Scope = Readonly<Record<string, JsonValue>>;

const interpolation = /\{\{(\/[^{}]*)\}\}/g;

/** Names the pointer that leads nowhere. */
export class UnresolvedReference extends Error {
  override readonly name = 'UnresolvedReference';
  readonly pointer: string;

  constructor(pointer: string) {
    super(`nothing at ${pointer}`);
    this.pointer = pointer;
  }
}

/** The value with every reference replaced. A script's depth is bounded, and what is referred to is not entered. */
export function resolveValue(value: JsonValue, scope: Scope): JsonValue {
  if (typeof value === 'string') return resolveText(value, scope);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => resolveValue(item, scope));
  const pointer = value.$ref;
  if (typeof pointer === 'string' && Object.keys(value).length === 1) return follow(pointer, scope);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolveValue(item, scope)]));
}

/** Text for where only text will do. */
export function resolveToText(value: JsonValue, scope: Scope): string {
  return textOf(resolveValue(value, scope));
}

function resolveText(text: string, scope: Scope): string {
  return text.replace(interpolation, (_, pointer: string) => textOf(follow(pointer, scope)));
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** RFC 6901, from the scope. */
function follow(pointer: string, scope: Scope): JsonValue {
  let at: JsonValue | undefined = { ...scope };
  for (const token of pointer.split('/').slice(1)) {
    const member = token.replaceAll('~1', '/').replaceAll('~0', '~');
    at = memberOf(at, member);
    if (at === undefined) throw new UnresolvedReference(pointer);
  }
  return at;
}

function memberOf(value: JsonValue, member: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^\d+$/.test(member) ? value[Number(member)] : undefined;
  if (value === null || typeof value !== 'object') return undefined;
  return Object.hasOwn(value, member) ? value[member] : undefined;
}
