/** The scalar forms of the wire as zod schemas; every document schema is put together from these. */

import { z } from 'zod';
import { type Address, type Domain, isAddress, type KeyRef, parseDomain, parseKeyRef } from './address.js';
import { type Digest, isDigest, parseInstant } from './encoding.js';
import { type DomainIdKind, type Id, type IdKind, isId, isPrincipalId, type PrincipalId } from './identifier.js';
import { LIMITS } from './limits.js';
import { type Refusal, refuse } from './problem.js';

export const domainSchema = z.custom<Domain>(
  (value) => typeof value === 'string' && parseDomain(value) !== undefined,
  'not a domain',
);
export const addressSchema = z.custom<Address>(
  (value) => typeof value === 'string' && isAddress(value),
  'not an address',
);
export const keyRefSchema = z.custom<KeyRef>(
  (value) => typeof value === 'string' && parseKeyRef(value) !== undefined,
  'not a key reference',
);
export const digestSchema = z.custom<Digest>(
  (value) => typeof value === 'string' && isDigest(value),
  'not sha256: and 64 hex digits',
);
export const principalIdSchema = z.custom<PrincipalId>(
  (value) => typeof value === 'string' && isPrincipalId(value),
  'not a principal id',
);
export const instantSchema = z
  .string()
  .refine((text) => parseInstant(text) !== undefined, 'not YYYY-MM-DDTHH:MM:SS.sssZ');
export const numericDateSchema = z.int().nonnegative().max(253_402_300_799);
export const shortTextSchema = z.string().max(LIMITS.shortTextChars);
export const decimalSchema = z.string().regex(/^(0|[1-9][0-9]{0,18})$/, 'not a decimal string');
export const kidSchema = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'not a thumbprint');

export function idSchema<Kind extends IdKind | DomainIdKind>(kind: Kind) {
  return z.custom<Id<Kind>>((value) => typeof value === 'string' && isId(kind, value), `not a ${kind}_ id`);
}

/** Names where a document departs from its schema, in one line. */
export function describeIssues(error: z.ZodError): string {
  const [issue] = error.issues;
  if (!issue) return 'does not follow the schema';
  const path = issue.path.map(String).join('.');
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}

/** Parses with a schema into a value, or a refusal under the given reason. */
export function readAs<Schema extends z.ZodType, Reason extends string>(
  schema: Schema,
  value: unknown,
  reason: Reason,
): { readonly ok: true; readonly value: z.output<Schema> } | Refusal<Reason> {
  const parsed = schema.safeParse(value);
  return parsed.success ? { ok: true, value: parsed.data } : refuse(reason, describeIssues(parsed.error));
}
