/**
 * When a wait is over, as pure rules. An input counts for every subscription of the wait that it matches, that had not
 * expired (nor the wait) when the input was received and is not satisfied yet, unless that subscription has counted one with the same key:
 * the value at its `dedupe` pointer, or else the source event. A subscription is satisfied by `repeat` inputs; the wait by
 * `needed` satisfied subscriptions: one for `first_match`, n distinct ones for `any`, every one for `all`.
 */
import { canonicalize, digestOf, type JsonObject, type JsonValue, toUtf8 } from '../../protocol/index.js';
import type { InputRecord } from '../input/index.js';
import { matchingTypes, type ResumePolicy } from './suspension.js';

/** One subscription of a wait, and the keys of what it has counted. */
export interface AwaitedPart {
  id: string;
  type: string;
  subject: string | null;
  repeat: number;
  dedupe: string | null;
  expiresAt: Date | null;
  keys: readonly string[];
}

export interface Wait {
  needed: number;
  expiresAt: Date | null;
  parts: readonly AwaitedPart[];
}

export type CountableInput = Pick<
  InputRecord,
  'type' | 'source' | 'sourceEventId' | 'principal' | 'subject' | 'correlationId' | 'data' | 'receivedAt'
>;

export interface Counted {
  /** The wait with the input counted in. */
  wait: Wait;
  /** Where it counted; empty when it changes nothing. */
  counted: readonly { id: string; key: string }[];
  satisfied: boolean;
}

export function neededOf(policy: ResumePolicy, subscriptions: number): number {
  if (policy === 'first_match') return 1;
  return policy === 'all' ? subscriptions : policy.any;
}

export function countInput(wait: Wait, input: CountableInput): Counted {
  const counted: { id: string; key: string }[] = [];
  if (wait.expiresAt !== null && wait.expiresAt <= input.receivedAt) return { wait, counted, satisfied: false };
  const parts = wait.parts.map((part) => {
    const key = keyOf(part, input);
    if (!counts(part, input) || part.keys.includes(key)) return part;
    counted.push({ id: part.id, key });
    return { ...part, keys: [...part.keys, key] };
  });
  const after = { ...wait, parts };
  return { wait: after, counted, satisfied: counted.length > 0 && isSatisfied(after) };
}

export function isPartSatisfied({ keys, repeat }: AwaitedPart): boolean {
  return keys.length >= repeat;
}

/**
 * When the wait expires by itself: at its own expiry, or as soon as fewer subscriptions than are needed are satisfied or can
 * still be. Null for never.
 */
export function dueAtOf({ needed, expiresAt, parts }: Wait): Date | null {
  const open = parts.filter((part) => !isPartSatisfied(part));
  const spare = parts.length - needed;
  const ends = open.flatMap((part) => (part.expiresAt === null ? [] : [part.expiresAt]));
  const hopeless = ends.sort((a, b) => a.getTime() - b.getTime())[spare];
  if (hopeless === undefined || expiresAt === null) return hopeless ?? expiresAt;
  return hopeless < expiresAt ? hopeless : expiresAt;
}

function isSatisfied({ needed, parts }: Wait): boolean {
  return parts.filter(isPartSatisfied).length >= needed;
}

function counts(part: AwaitedPart, { type, subject, receivedAt }: CountableInput): boolean {
  if (isPartSatisfied(part)) return false;
  if (part.subject !== null && part.subject !== subject?.resource) return false;
  if (part.expiresAt !== null && part.expiresAt <= receivedAt) return false;
  return matchingTypes(type).includes(part.type);
}

function keyOf({ dedupe }: AwaitedPart, input: CountableInput): string {
  const chosen = dedupe === null ? undefined : valueAt(shownTo(input), dedupe);
  const key: JsonObject =
    chosen === undefined ? { source: input.source, event: input.sourceEventId } : { value: chosen };
  return digestOf(toUtf8(canonicalize(key)));
}

function shownTo({ type, source, principal, subject, correlationId, data }: CountableInput): JsonObject {
  return {
    type,
    source,
    principal,
    subject: subject === null ? null : { ...subject },
    correlation_id: correlationId,
    data,
  };
}

/** RFC 6901; undefined where it leads nowhere. */
function valueAt(value: JsonObject, pointer: string): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const token of pointer.split('/').slice(1)) {
    const member = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (at === null || typeof at !== 'object') return undefined;
    if (Array.isArray(at)) at = /^(0|[1-9]\d*)$/.test(member) ? at[Number(member)] : undefined;
    else at = Object.hasOwn(at, member) ? at[member] : undefined;
    if (at === undefined) return undefined;
  }
  return at;
}
