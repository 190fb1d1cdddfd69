/** The scalar forms of the wire as zod schemas; every document schema is put together from these. */

import { z } from 'zod';
import { type Address, type Domain, isAddress, type KeyRef, parseDomain, parseKeyRef } from './address.js';
import { type Digest, isDigest, parseInstant } from './encoding.js';
import { type DomainIdKind, type Id, type IdKind, isId, isPrincipalId, type PrincipalId } from './identifier.js';
import { LIMITS } from './limits.js';
import { type Refusal, refuse } from './problem.js';

// What a published JSON Schema says of a text that our own grammar decides; it may say less, never more.
const LABELS = '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$';

export const domainSchema = z
  .custom<Domain>((value) => typeof value === 'string' && parseDomain(value) !== undefined, 'not a domain')
  .meta(texts(LABELS, LIMITS.domainBytes));
export const addressSchema = z
  .custom<Address>((value) => typeof value === 'string' && isAddress(value), 'not an address')
  .meta(
    texts(
      '^(agent://[^/]+/agents|human://[^/]+/users|service://[^/]+)/[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$',
      LIMITS.addressBytes,
    ),
  );
export const keyRefSchema = z
  .custom<KeyRef>((value) => typeof value === 'string' && parseKeyRef(value) !== undefined, 'not a key reference')
  .meta(
    texts(
      '^key://[^/]+/(domain/[A-Za-z0-9_-]{43}|(agents|users|services)/[a-z0-9._-]+/[1-9][0-9]{0,8})$',
      LIMITS.identifierBytes,
    ),
  );
export const digestSchema = z
  .custom<Digest>((value) => typeof value === 'string' && isDigest(value), 'not sha256: and 64 hex digits')
  .meta(texts('^sha256:[0-9a-f]{64}$'));
export const principalIdSchema = z
  .custom<PrincipalId>((value) => typeof value === 'string' && isPrincipalId(value), 'not a principal id')
  .meta(texts('^prn_[A-Za-z0-9_-]{43}$'));
export const instantSchema = z
  .string()
  .refine((text) => parseInstant(text) !== undefined, 'not YYYY-MM-DDTHH:MM:SS.sssZ')
  .meta(texts('^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$'));
export const numericDateSchema = z.int().nonnegative().max(253_402_300_799);
export const shortTextSchema = z.string().max(LIMITS.shortTextChars);
export const decimalSchema = z.string().regex(/^(0|[1-9][0-9]{0,18})$/, 'not a decimal string');
export const kidSchema = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'not a thumbprint');

export function idSchema<Kind extends IdKind | DomainIdKind>(kind: Kind) {
  const middle = kind === 'conv' || kind === 'cmt' ? '[a-z0-9.-]+_' : '';
  return z
    .custom<Id<Kind>>((value) => typeof value === 'string' && isId(kind, value), `not a ${kind}_ id`)
    .meta(texts(`^${kind}_${middle}[a-z0-9]{1,32}_[0-7][0-9a-hjkmnp-tv-z]{25}$`, LIMITS.identifierBytes));
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

function texts(pattern: string, maxLength?: number) {
  return { type: 'string', pattern, ...(maxLength === undefined ? {} : { maxLength }) };
}
