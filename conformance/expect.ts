// What a check says when it does not hold, and the comparisons that checks are made of.

import type { Reply } from './peer/http-client.js';
import type { TransactionReply } from './peer/played-domain.js';
import { listOf, textOf } from './wire/json.js';

/** Something is not as the specification has it. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
}

export function holds(condition: boolean, otherwise: string): void {
  if (!condition) throw new Mismatch(otherwise);
}

export function same(actual: unknown, expected: unknown, what: string): void {
  holds(actual === expected, `${what} is ${shown(actual)}, not ${shown(expected)}`);
}

/** The value, where there has to be one. */
export function found<Value>(value: Value | undefined, otherwise: string): Value {
  if (value === undefined) throw new Mismatch(otherwise);
  return value;
}

/** Refused as a whole, with one of the statuses and, where one is named, the code. */
export function refused(reply: Reply, status: number | readonly number[], code?: string): void {
  const statuses = typeof status === 'number' ? [status] : status;
  const said = `${reply.status} ${textOf(reply.json, 'code')}`.trim();
  holds(statuses.includes(reply.status), `it was answered ${said}, not ${statuses.join(' or ')}`);
  if (code !== undefined) same(textOf(reply.json, 'code'), code, 'the code');
}

function answered(reply: Reply, status = 200): void {
  same(reply.status, status, `the status (${textOf(reply.json, 'code') || 'no code'})`);
}

/** The result of the message at a place in the answer. */
function resultAt(reply: TransactionReply, at = 0): unknown {
  answered(reply);
  return found(reply.results[at], `there is no result ${at}`);
}

export function resultIs(reply: TransactionReply, expected: string, at = 0): void {
  const result = resultAt(reply, at);
  const code = textOf(result, 'code');
  const said = code === '' ? textOf(result, 'result') : `${textOf(result, 'result')} ${code}`;
  holds(textOf(result, 'result') === expected, `the result is ${said}, not ${expected}`);
}

/** Rejected for one of the reasons; without any named, for whatever reason. */
export function rejected(reply: TransactionReply, codes: readonly string[] = [], at = 0): void {
  resultIs(reply, 'rejected', at);
  const code = textOf(resultAt(reply, at), 'code');
  holds(codes.length === 0 || codes.includes(code), `the code is ${code}, not ${codes.join(' or ')}`);
}

export function namesOf(reply: Reply): string[] {
  return listOf(reply.json, 'items').map((item) => textOf(item, 'address'));
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'absent');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
