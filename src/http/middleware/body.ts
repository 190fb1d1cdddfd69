// Reads a request's body byte-exact and bounded, then as strict JSON of a known shape; the same for its query.
import getRawBody from 'raw-body';
import type { z } from 'zod';
import { type JsonValue, Problem, parseStrictJson } from '../../protocol/index.js';
import type { DoorContext } from '../endpoint.js';

const defaultJsonBytes = 1024 * 1024;
const shownIssues = 5;

export interface BodyRules {
  maxBytes: number;
  mediaType: string;
  /** Said to whoever sends another media type, verified or not. */
  hint?: string;
}

export async function rawBody(ctx: DoorContext, { maxBytes, mediaType, hint }: BodyRules): Promise<Buffer> {
  const extra = hint === undefined ? {} : { extra: { hint } };
  if (ctx.get('Content-Encoding') !== '') {
    throw new Problem('unsupported_media_type', 'the body must not have a Content-Encoding');
  }
  if (mediaTypeOf(ctx) !== mediaType) {
    throw new Problem('unsupported_media_type', `the body must be ${mediaType}`, extra);
  }
  const { body } = ctx.state;
  if (body === undefined) return readBody(ctx, maxBytes);
  if (body.byteLength > maxBytes) throw tooLarge(maxBytes);
  return body;
}

/** The bytes alone, whatever they are. */
export async function readBody(ctx: DoorContext, maxBytes: number = defaultJsonBytes): Promise<Buffer> {
  try {
    const read = getRawBody(ctx.req, { limit: maxBytes, length: ctx.get('Content-Length') || null });
    return await ctx.state.arriving(read);
  } catch (cause) {
    throw cause instanceof Problem ? cause : bodyProblem(cause, maxBytes);
  }
}

export async function jsonBody<Shape>(ctx: DoorContext, shape: z.ZodType<Shape>): Promise<Shape> {
  return parseShape(shape, await jsonValue(ctx));
}

/** A POST whose body says nothing may also be empty. */
async function jsonValue(ctx: DoorContext): Promise<JsonValue> {
  const bytes = await rawBody(ctx, { maxBytes: defaultJsonBytes, mediaType: 'application/json' });
  return parseStrictJson(bytes, { maxBytes: defaultJsonBytes });
}

/** Members that the shape does not know are refused, as in bodies. */
export function queryOf<Shape>(ctx: DoorContext, shape: z.ZodType<Shape>): Shape {
  return parseShape(shape, ctx.query);
}

function parseShape<Shape>(shape: z.ZodType<Shape>, value: unknown): Shape {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Problem('schema_invalid', describeIssues(parsed.error));
}

function describeIssues(error: z.ZodError): string {
  return error.issues
    .slice(0, shownIssues)
    .map((issue) => `${issue.path.join('.') || 'the request'}: ${issue.message}`)
    .join('; ')
    .slice(0, 1_000);
}

function mediaTypeOf(ctx: DoorContext): string {
  return ctx.get('Content-Type').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function bodyProblem(cause: unknown, maxBytes: number): Problem {
  const type: unknown = cause instanceof Error ? Reflect.get(cause, 'type') : undefined;
  if (type === 'entity.too.large') return tooLarge(maxBytes, cause);
  return new Problem('malformed_json', 'the body did not arrive whole', { cause });
}

function tooLarge(maxBytes: number, cause?: unknown): Problem {
  return new Problem('too_large', `the body may have ${maxBytes} bytes`, { cause });
}
