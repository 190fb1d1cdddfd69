// What a door is made of: an endpoint is a method, a path and a handler; its state is what has been proved so far.
import type { ParameterizedContext } from 'koa';
import type { z } from 'zod';
import type { AuthenticatedCaller } from '../home/index.js';
import { Problem } from '../protocol/index.js';
import type { Cursors } from './cursor.js';

export interface DoorState {
  /** Minted here for each request, never taken from it. */
  requestId: string;
  /** True once a credential or a signature has been checked; only then may an error say more than its code. */
  verified: boolean;
  caller?: AuthenticatedCaller;
  /** Waits for a body among those that are still arriving; meanwhile the request is not counted as in work. */
  arriving: <Body>(read: Promise<Body>) => Promise<Body>;
  /** What the lists of this domain give out and take. */
  cursors: Cursors;
  /** The body, when it was read before the handler asked for it. */
  body?: Buffer;
}

export type DoorContext = ParameterizedContext<DoorState> & { params: Record<string, string> };

export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  /** The shapes it reads, published in the OpenAPI documents. */
  takes?: { query?: z.ZodType; body?: z.ZodType };
  /**
   * How a repeat under one Idempotency-Key is kept from acting twice: `together` (if not said otherwise) puts the act and
   * its answer into one commit; `derived` is for acts that leave the database, whose ids follow from the key.
   */
  repeats?: 'together' | 'derived';
  handle(ctx: DoorContext): Promise<void> | void;
}

/** The authenticated caller; the private door's middleware has seen to it that there is one. */
export function callerOf(ctx: DoorContext): AuthenticatedCaller {
  const { caller } = ctx.state;
  if (!caller) throw new Problem('unauthorized', 'this needs a credential');
  return caller;
}

/** The caller, on a door where there need not be one. */
export function callerIn(ctx: DoorContext): AuthenticatedCaller | undefined {
  return ctx.state.caller;
}

export function param(ctx: DoorContext, name: string): string {
  const value = ctx.params[name];
  if (value === undefined) throw new Problem('not_found', 'the path is not complete');
  return value;
}
