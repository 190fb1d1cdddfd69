/**
 * Interactions: the closed list of speech acts, and the bodies of those that this version carries out.
 * Free text is a `message`: it makes no obligation and changes no state.
 */

import { z } from 'zod';
import { canonicalize } from './canonical-json.js';
import { digestOf, fromUtf8, toUtf8 } from './encoding.js';
import type { EnvelopeHeader } from './envelope.js';
import { mintingDomainOf } from './identifier.js';
import { LIMITS } from './limits.js';
import { Problem, type Refusal, refuse } from './problem.js';
import { type JsonValue, parseStrictJson } from './strict-json.js';
import { addressSchema, digestSchema, idSchema, instantSchema, readAs, shortTextSchema } from './wire-schema.js';

export const INTERACTION_TYPES = [
  'request',
  'offer',
  'accept',
  'reject',
  'delegate',
  'commit',
  'approve',
  'revoke',
  'handoff',
  'report',
  'query',
  'subscribe',
  'negotiate',
  'message',
  'cancel',
  'dispute',
  'resolve',
] as const;

export type InteractionType = (typeof INTERACTION_TYPES)[number];

export const INTERACTION_MEDIA_TYPE = 'application/agent-interaction+json';
const TEXT_MEDIA_TYPE = 'text/plain';

const jsonObjectSchema = z.record(
  z.string(),
  z.custom<JsonValue>((value) => value !== undefined),
);
const textSchema = z.string().refine((text) => Buffer.byteLength(text) <= LIMITS.textBytes, 'too long');
const previousSchema = z.union([z.literal(''), digestSchema]);
const versionSchema = z.int().min(1).max(1_000_000);

/** Binds a proposal exactly: id, version and the digest of the body bytes that made it. */
const bindingShape = {
  commitment_id: idSchema('cmt'),
  proposal_id: idSchema('prop'),
  version: versionSchema,
  proposal_digest: digestSchema,
};

export const proposalSchema = z.strictObject({
  proposal_id: idSchema('prop'),
  version: versionSchema,
  commitment_id: idSchema('cmt'),
  action: z.string().regex(/^[a-z][a-z0-9_.-]{0,127}$/, 'not an action name'),
  subject: z.string().min(1).max(LIMITS.shortTextChars),
  content: jsonObjectSchema.optional(),
  conditions: jsonObjectSchema.optional(),
  deadline: instantSchema.optional(),
  evidence_policy: z
    .strictObject({ required_artifacts: z.array(shortTextSchema.min(1)).max(LIMITS.evidenceItems) })
    .optional(),
  /** Who may decide a dispute; without one, only the party that gives in can end it. */
  resolver: addressSchema.optional(),
});

const evidenceSchema = z
  .strictObject({
    name: shortTextSchema.min(1),
    digest: digestSchema,
    content_type: z.string().min(3).max(127),
    content: z.string().optional(),
  })
  .refine(
    ({ content }) => content === undefined || Buffer.byteLength(content) <= LIMITS.evidenceInlineBytes,
    'the content is too long',
  )
  .refine(
    ({ content, digest }) => content === undefined || digestOf(toUtf8(content)) === digest,
    'the digest is not of the content',
  );

export const messageBodySchema = z.strictObject({ text: textSchema, data: jsonObjectSchema.optional() });
export const requestBodySchema = z.strictObject({ proposal: proposalSchema });
export const acceptBodySchema = z.discriminatedUnion('accepts', [
  z.strictObject({ accepts: z.literal('proposal'), ...bindingShape, previous: previousSchema }),
  z.strictObject({
    accepts: z.literal('report'),
    commitment_id: idSchema('cmt'),
    report_message_id: idSchema('msg'),
    report_digest: digestSchema,
    previous: previousSchema,
  }),
]);
export const rejectBodySchema = z.strictObject({ ...bindingShape, reason: shortTextSchema, previous: previousSchema });
export const reportBodySchema = z.strictObject({
  commitment_id: idSchema('cmt'),
  proposal_digest: digestSchema,
  summary: textSchema,
  evidence: z.array(evidenceSchema).max(LIMITS.evidenceItems),
  previous: previousSchema,
});

export type Proposal = z.infer<typeof proposalSchema>;
export type Evidence = z.infer<typeof evidenceSchema>;
type MessageBody = z.infer<typeof messageBodySchema>;
type RequestBody = z.infer<typeof requestBodySchema>;
type AcceptBody = z.infer<typeof acceptBodySchema>;
type RejectBody = z.infer<typeof rejectBodySchema>;
type ReportBody = z.infer<typeof reportBodySchema>;

export type Interaction =
  | { readonly type: 'message'; readonly body: MessageBody }
  | { readonly type: 'request'; readonly body: RequestBody }
  | { readonly type: 'accept'; readonly body: AcceptBody }
  | { readonly type: 'reject'; readonly body: RejectBody }
  | { readonly type: 'report'; readonly body: ReportBody };

export type ReadInteraction = { readonly ok: true; readonly interaction: Interaction };
export type InteractionRefusal = Refusal<'interaction_invalid' | 'interaction_unsupported' | 'mint_foreign_domain'>;

/** The part of an envelope that an interaction is read from. */
export type InteractionSource = { readonly header: EnvelopeHeader; readonly body: Uint8Array };

/** Reads the interaction that an envelope carries. Whether its transition is allowed is decided elsewhere. */
export function parseInteraction({ header, body }: InteractionSource): ReadInteraction | InteractionRefusal {
  const type = INTERACTION_TYPES.find((known) => known === header.interaction_type);
  if (!type) return refuse('interaction_invalid', `there is no interaction ${header.interaction_type}`);
  if (header.content_type === TEXT_MEDIA_TYPE) return readText(type, body);
  if (header.content_type !== INTERACTION_MEDIA_TYPE) {
    return refuse('interaction_invalid', `an interaction is ${INTERACTION_MEDIA_TYPE}, not ${header.content_type}`);
  }
  const json = parseBody(body);
  if (!json.ok) return json;
  const read = readBody(type, json.value);
  if (!read.ok || read.interaction.type !== 'request') return read;
  return checkRequest(read, read.interaction.body.proposal, header);
}

/** The bytes of an interaction body, to be signed and sent as they are. Throws when the body breaks its schema. */
export function encodeInteraction(interaction: Interaction): Uint8Array {
  const read = readBody(interaction.type, interaction.body);
  if (!read.ok) throw new Problem('schema_invalid', read.detail);
  return toUtf8(canonicalize(interaction.body));
}

function readText(type: InteractionType, body: Uint8Array): ReadInteraction | InteractionRefusal {
  // Free text never becomes a typed act, whatever the header claims.
  if (type !== 'message') return refuse('interaction_invalid', `a ${type} is not free text`);
  const text = fromUtf8(body);
  if (text === undefined) return refuse('interaction_invalid', 'the text is not UTF-8');
  const read = readAs(messageBodySchema, { text }, 'interaction_invalid');
  return read.ok ? { ok: true, interaction: { type, body: read.value } } : read;
}

function parseBody(
  body: Uint8Array,
): { readonly ok: true; readonly value: JsonValue } | Refusal<'interaction_invalid'> {
  try {
    return { ok: true, value: parseStrictJson(body, { maxBytes: LIMITS.objectBytes }) };
  } catch (error) {
    if (error instanceof Problem) return refuse('interaction_invalid', error.detail);
    throw error;
  }
}

function readBody(type: InteractionType, value: unknown): ReadInteraction | InteractionRefusal {
  switch (type) {
    case 'message': {
      const read = readAs(messageBodySchema, value, 'interaction_invalid');
      return read.ok ? { ok: true, interaction: { type, body: read.value } } : read;
    }
    case 'request': {
      const read = readAs(requestBodySchema, value, 'interaction_invalid');
      return read.ok ? { ok: true, interaction: { type, body: read.value } } : read;
    }
    case 'accept': {
      const read = readAs(acceptBodySchema, value, 'interaction_invalid');
      return read.ok ? { ok: true, interaction: { type, body: read.value } } : read;
    }
    case 'reject': {
      const read = readAs(rejectBodySchema, value, 'interaction_invalid');
      return read.ok ? { ok: true, interaction: { type, body: read.value } } : read;
    }
    case 'report': {
      const read = readAs(reportBodySchema, value, 'interaction_invalid');
      return read.ok ? { ok: true, interaction: { type, body: read.value } } : read;
    }
    default:
      return refuse('interaction_unsupported', `${type} is not supported yet`);
  }
}

function checkRequest(
  read: ReadInteraction,
  proposal: Proposal,
  header: EnvelopeHeader,
): ReadInteraction | InteractionRefusal {
  if (header.to.length !== 1) return refuse('interaction_invalid', 'a request has exactly one recipient, its debtor');
  if (mintingDomainOf(proposal.commitment_id) !== header.sender_domain) {
    return refuse('mint_foreign_domain', `${proposal.commitment_id} is not minted by ${header.sender_domain}`);
  }
  return read;
}
