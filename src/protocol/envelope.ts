/**
 * The federated envelope: a signed header (exact canonical bytes, carried as a string) beside its body.
 * Opened means readable and canonical; verified means that origin, key, signature, digest and times hold as well.
 */

import { z } from 'zod';
import { type Address, type Domain, type KeyRef, parseAddress } from './address.js';
import type { VerifiedAgentKey } from './agent-key-certificate.js';
import { canonicalize, readCanonicalJson } from './canonical-json.js';
import { type Sign, verifySignature } from './ed25519.js';
import { type Digest, digestOf, fromBase64url, parseInstant, signingBytes, toBase64url, toUtf8 } from './encoding.js';
import type { PrincipalId } from './identifier.js';
import { LIMITS } from './limits.js';
import { Problem, type Refusal, type RefusalCode, refuse } from './problem.js';
import type { JsonValue } from './strict-json.js';
import {
  addressSchema,
  digestSchema,
  domainSchema,
  idSchema,
  instantSchema,
  keyRefSchema,
  principalIdSchema,
  readAs,
} from './wire-schema.js';

const tokenSchema = z.string().regex(/^[\x21-\x7e]{1,255}$/, 'not 1 to 255 printable ASCII characters');

/** All strings or arrays of strings, so that canonicalisation is trivial. Closed: an unknown signed field could change the meaning. */
export const envelopeHeaderSchema = z.strictObject({
  message_id: idSchema('msg'),
  sender: addressSchema,
  sender_domain: domainSchema,
  to: z.array(addressSchema).min(1).max(LIMITS.recipients),
  conversation_id: idSchema('conv'),
  /** The sender's previous message in this conversation to this destination; empty for the first. */
  prev: z.union([z.literal(''), idSchema('msg')]),
  interaction_type: z.string().regex(/^[a-z][a-z_]{0,31}$/, 'not an interaction type'),
  in_reply_to: idSchema('msg').optional(),
  correlation_id: tokenSchema.optional(),
  causation_id: tokenSchema.optional(),
  issued_at: instantSchema,
  expires_at: instantSchema,
  body_ref: z
    .string()
    .regex(/^object:\/\/[\x21-\x7e]{1,240}$/, 'not an object reference')
    .optional(),
  body_digest: digestSchema,
  content_type: z
    .string()
    .max(127)
    .regex(/^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/, 'not a media type'),
  idempotency_key: tokenSchema.optional(),
  key_id: keyRefSchema,
  hop_chain: z.array(principalIdSchema).max(LIMITS.hopChain).optional(),
  /** The engagement id and its root principal id. */
  engagement: z.tuple([tokenSchema, principalIdSchema]).optional(),
  authority_digest: digestSchema.optional(),
});

export const wireEnvelopeSchema = z.strictObject({
  header: z.string(),
  signature: z.string(),
  body: z.string().optional(),
});

export type EnvelopeHeader = z.infer<typeof envelopeHeaderSchema>;
export type WireEnvelope = { readonly header: string; readonly signature: string; readonly body?: string };

/** What the sender decides; domain and digest follow from it. */
export type EnvelopeDraft = Omit<EnvelopeHeader, 'sender_domain' | 'body_digest'>;

export type OpenedEnvelope = {
  readonly ok: true;
  readonly header: EnvelopeHeader;
  readonly headerBytes: Uint8Array;
  /** Names the envelope in hash-linked logs, and tells a repeat from a reuse of its message id. */
  readonly headerDigest: Digest;
  readonly signature: Uint8Array;
  /** The exact body bytes; undefined when the body was put as an object. */
  readonly body: Uint8Array | undefined;
  readonly wire: WireEnvelope;
};

/** A refused envelope with as much of its identity as could be read, so that the sender can be told which one. */
export type OpenRefusal = Refusal & { readonly messageId: string; readonly recipients: readonly string[] };

const proof = Symbol('VerifiedEnvelope');

export type VerifiedEnvelope = Omit<OpenedEnvelope, 'body'> & {
  readonly body: Uint8Array;
  readonly origin: Domain;
  readonly sender: Address;
  readonly senderPrincipalId: PrincipalId;
  readonly keyRef: KeyRef;
  readonly [proof]: 'envelope';
};

export type VerifyEnvelopeOptions = {
  /** The domain that the transport request was proved to come from. */
  readonly origin: Domain;
  readonly destination: Domain;
  readonly now: Date;
  readonly agentKey: VerifiedAgentKey;
  /** The object that `body_ref` names, when it is here. */
  readonly object?: Uint8Array;
};

const messageIdSchema = idSchema('msg');
const recipientsSchema = z.array(addressSchema).max(LIMITS.recipients);

const SIGNATURE_TAG = 'ed25519.';

/** Signs a header over its body. Throws when the draft itself is not a valid header: that is a fault of ours. */
export async function sealEnvelope(draft: EnvelopeDraft, body: Uint8Array, sign: Sign): Promise<WireEnvelope> {
  const sender = parseAddress(draft.sender);
  const header = envelopeHeaderSchema.parse({ ...draft, sender_domain: sender?.domain, body_digest: digestOf(body) });
  const text = canonicalize(header);
  const signature = SIGNATURE_TAG + toBase64url(await sign(signingBytes('envelope', toUtf8(text))));
  const inline =
    header.body_ref === undefined
      ? { body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) }
      : {};
  const wire = { header: text, signature, ...inline };
  const sizeFault = sizeFaultOf(wire);
  if (sizeFault) throw new Problem('too_large', sizeFault);
  return wire;
}

/** Reads one item of a transaction. Nothing it says is believed yet. */
export function openEnvelope(item: unknown): OpenedEnvelope | OpenRefusal {
  const parsed = wireEnvelopeSchema.safeParse(item);
  if (!parsed.success) return unreadable('envelope_malformed', 'not {header, signature, body}');
  const { header: text, signature: signatureText, body } = parsed.data;
  const wire: WireEnvelope = { header: text, signature: signatureText, ...(body === undefined ? {} : { body }) };
  const sizeFault = sizeFaultOf(wire);
  if (sizeFault) return unreadable('envelope_too_large', sizeFault);
  const json = readCanonicalJson(text, { maxBytes: LIMITS.envelopeHeaderBytes });
  if (json.kind === 'malformed') return unreadable('envelope_malformed', json.detail);
  // The bytes are what was signed: a second spelling of the same header would be a second envelope under one id.
  if (json.kind === 'not_canonical') {
    return {
      ...refuse('envelope_not_canonical', 'the header is not canonical JSON (RFC 8785)'),
      ...identityOf(json.value),
    };
  }
  const read = readAs(envelopeHeaderSchema, json.value, 'envelope_malformed');
  if (!read.ok) return { ...read, ...identityOf(json.value) };
  if ((body === undefined) !== (read.value.body_ref !== undefined)) {
    return {
      ...refuse('envelope_malformed', 'needs exactly one of an inline body and body_ref'),
      ...identityOf(json.value),
    };
  }
  const signature = readSignature(signatureText);
  if (!signature)
    return { ...refuse('signature_invalid', 'not ed25519. and 64 bytes of base64url'), ...identityOf(json.value) };
  const headerBytes = toUtf8(text);
  return {
    ok: true,
    header: read.value,
    headerBytes,
    headerDigest: digestOf(headerBytes),
    signature,
    body: body === undefined ? undefined : toUtf8(body),
    wire,
  };
}

/** Verifies an opened envelope, cheapest checks first. */
export function verifyEnvelope(opened: OpenedEnvelope, options: VerifyEnvelopeOptions): VerifiedEnvelope | Refusal {
  const { header } = opened;
  const { origin, agentKey } = options;
  const refusal = checkParties(header, options) ?? checkTimes(header, options.now) ?? checkKey(header, agentKey);
  if (refusal) return refusal;
  if (!verifySignature(agentKey.publicKey, signingBytes('envelope', opened.headerBytes), opened.signature)) {
    return refuse('signature_invalid', 'the signature does not hold over the header');
  }
  const body = opened.body ?? options.object;
  if (!body) return refuse('body_missing', `${header.body_ref} is not here`);
  if (digestOf(body) !== header.body_digest) {
    return refuse('body_digest_mismatch', 'body_digest is not the digest of the body');
  }
  return {
    ...opened,
    body,
    origin,
    sender: header.sender,
    senderPrincipalId: agentKey.principalId,
    keyRef: agentKey.keyRef,
    [proof]: 'envelope',
  };
}

function checkParties(header: EnvelopeHeader, options: VerifyEnvelopeOptions): Refusal | undefined {
  // ENVELOPE: the sender is bound to the authenticated origin; what the payload says of itself counts for nothing.
  if (header.sender_domain !== options.origin || parseAddress(header.sender)?.domain !== options.origin) {
    return refuse('sender_mismatch', `${header.sender} does not belong to ${options.origin}`);
  }
  const stray = header.to.find((address) => parseAddress(address)?.domain !== options.destination);
  if (stray) return refuse('wrong_destination', `${stray} is not of ${options.destination}`);
  if (new Set(header.to).size !== header.to.length) return refuse('envelope_malformed', 'a recipient is named twice');
  return undefined;
}

function checkTimes(header: EnvelopeHeader, now: Date): Refusal | undefined {
  const issuedMs = parseInstant(header.issued_at)?.getTime() ?? Number.NaN;
  const expiresMs = parseInstant(header.expires_at)?.getTime() ?? Number.NaN;
  if (!(issuedMs <= now.getTime() + LIMITS.clockSkewMs)) {
    return refuse('issued_in_future', `issued_at ${header.issued_at} is ahead of this clock by more than 300 s`);
  }
  if (!(expiresMs > now.getTime())) return refuse('expired', `expired at ${header.expires_at}`);
  if (!(expiresMs > issuedMs)) return refuse('envelope_malformed', 'expires_at is not after issued_at');
  if (expiresMs - issuedMs > LIMITS.envelopeLifetimeMs) {
    return refuse('lifetime_too_long', 'expires_at is more than 7 days after issued_at');
  }
  return undefined;
}

function checkKey(header: EnvelopeHeader, agentKey: VerifiedAgentKey): Refusal | undefined {
  if (agentKey.address !== header.sender) {
    return refuse('certificate_invalid', `the certificate is of ${agentKey.address}, not ${header.sender}`);
  }
  if (agentKey.keyRef !== header.key_id) {
    return refuse('key_invalid', `key_id ${header.key_id} is not the certified ${agentKey.keyRef}`);
  }
  const issuedAt = parseInstant(header.issued_at);
  if (!issuedAt || issuedAt < agentKey.keyNbf || issuedAt >= agentKey.keyExp) {
    return refuse('key_invalid', `${header.key_id} was not valid at ${header.issued_at}`);
  }
  return undefined;
}

function sizeFaultOf({ header, signature, body = '' }: WireEnvelope): string | undefined {
  const headerBytes = Buffer.byteLength(header);
  const bodyBytes = Buffer.byteLength(body);
  if (headerBytes > LIMITS.envelopeHeaderBytes)
    return `the header has ${headerBytes} bytes of ${LIMITS.envelopeHeaderBytes}`;
  if (bodyBytes > LIMITS.inlineBodyBytes) return `the body has ${bodyBytes} bytes of ${LIMITS.inlineBodyBytes}`;
  const total = headerBytes + bodyBytes + Buffer.byteLength(signature);
  return total > LIMITS.envelopeBytes ? `the envelope has ${total} bytes of ${LIMITS.envelopeBytes}` : undefined;
}

function readSignature(text: string): Uint8Array | undefined {
  if (!text.startsWith(SIGNATURE_TAG)) return undefined;
  const bytes = fromBase64url(text.slice(SIGNATURE_TAG.length));
  return bytes?.byteLength === 64 ? bytes : undefined;
}

function identityOf(value: JsonValue): { messageId: string; recipients: string[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { messageId: '', recipients: [] };
  const messageId = messageIdSchema.safeParse(value.message_id);
  const recipients = recipientsSchema.safeParse(value.to);
  return { messageId: messageId.data ?? '', recipients: recipients.data ?? [] };
}

function unreadable(reason: RefusalCode, detail: string): OpenRefusal {
  return { ...refuse(reason, detail), messageId: '', recipients: [] };
}
