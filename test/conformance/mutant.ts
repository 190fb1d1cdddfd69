// What a mutant is, and the pieces that many of them are made of.
import type { JsonObject, JsonValue } from '../../src/protocol/index.js';
import type { Passing, Returning, Tamper } from './tampering-proxy.js';

export interface Mutant {
  /** What this server does wrong. */
  name: string;
  /** Where it is noticed, and the requirements whose checks are meant for it. */
  scenario: string;
  caughtBy: readonly string[];
  /** Before the federation door, before the private door, or in the way of what the domain dials. */
  at: 'federation' | 'private' | 'outbound';
  /** Made anew for each run: it may remember. */
  make: (parts: MutantParts) => Tamper;
}

export interface MutantParts {
  /** What the played domain would have answered to a right transaction. */
  right: (request: Passing) => Returning;
  /** Where the suite listens. */
  suite: { host: string; port: number };
}

export function isTransaction({ method, path }: Passing): boolean {
  return method === 'PUT' && path.startsWith('/federation/v1/transactions/');
}

export function jsonIn({ body }: { body: Buffer }): JsonObject {
  try {
    const value: JsonValue = JSON.parse(body.toString('utf8'));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function withJson(reply: Returning, value: JsonValue): Returning {
  return { ...reply, body: Buffer.from(JSON.stringify(value)) };
}

/** Changes the answers to which something applies. */
export function answers(
  applies: (request: Passing, reply: Returning) => boolean,
  change: (reply: Returning, request: Passing) => Returning,
): () => Tamper {
  return () => async (request, forward) => {
    const reply = await forward(request);
    return applies(request, reply) ? change(reply, request) : reply;
  };
}

/** Says yes where the domain said no, with this code or for this component. */
export function takes(refusal: { code?: string; component?: string }): () => Tamper {
  return answers(
    (_, reply) => {
      const { code, component } = jsonIn(reply);
      return (
        reply.status >= 400 &&
        (refusal.code === undefined || code === refusal.code) &&
        (refusal.component === undefined || component === refusal.component)
      );
    },
    (reply) => ({ ...withJson(reply, { results: [], receipt: '' }), status: 200 }),
  );
}

/** Changes each result of a transaction. */
export function results(change: (result: JsonObject, all: readonly JsonObject[]) => JsonObject): () => Tamper {
  return answers(
    (request, reply) => isTransaction(request) && reply.status === 200,
    (reply) => {
      const answer = jsonIn(reply);
      const all = Array.isArray(answer.results) ? answer.results.filter(isObject) : [];
      return withJson(reply, { ...answer, results: all.map((result) => change(result, all)) });
    },
  );
}

/** Accepts items that the domain rejected for one of these reasons. */
export function acceptsItems(...codes: string[]): () => Tamper {
  return results((result) => (codes.includes(String(result.code)) ? accepted(result) : result));
}

export function accepted({ message_id = '', recipient = '' }: JsonObject): JsonObject {
  return { message_id, recipient, result: 'accepted', receipt_id: 'rcpt_mutant_01m07gwwe0xpkh81a2k3mwbkr4' };
}
