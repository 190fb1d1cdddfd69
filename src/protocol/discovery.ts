/** The document at `/.well-known/agent-federation`: where a domain's gateway is and what it takes. */

import { z } from 'zod';
import type { Domain } from './address.js';
import { LIMITS } from './limits.js';
import { Problem, type Refusal, refuse } from './problem.js';
import { parseStrictJson } from './strict-json.js';
import { domainSchema, readAs, shortTextSchema } from './wire-schema.js';

export const DISCOVERY_PATH = '/.well-known/agent-federation';
const SCHEMA_VERSION = 'agent-federation/1';

const urlSchema = z
  .string()
  .max(2048)
  .refine(isPlainHttps, 'not an https URL without credentials, query, fragment or trailing slash');

/** What a receiver takes at most; a sender keeps to it. */
const receiverLimitsSchema = z.object({
  envelope_bytes: z.int().positive().max(LIMITS.envelopeBytes),
  transaction_envelopes: z.int().positive().max(LIMITS.transactionEnvelopes),
  transaction_bytes: z.int().positive().max(LIMITS.transactionBytes),
  transactions_in_flight: z.int().positive().max(64),
  clock_skew_s: z
    .int()
    .positive()
    .max(LIMITS.clockSkewMs / 1000),
});

export const discoverySchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  domain: domainSchema,
  gateway: urlSchema,
  bundle: urlSchema,
  directory: urlSchema,
  request_signatures: z.array(shortTextSchema).min(1).max(8),
  limits: receiverLimitsSchema,
  first_contact: z.enum(['quarantine', 'invitation']),
  software: shortTextSchema,
  contact: shortTextSchema,
});

export type DiscoveryDocument = z.infer<typeof discoverySchema>;

export type ReceiverLimits = z.infer<typeof receiverLimitsSchema>;

export type DiscoveryFacts = Pick<DiscoveryDocument, 'domain' | 'gateway' | 'first_contact' | 'software' | 'contact'>;

/** What this implementation takes. */
export const ownLimits: ReceiverLimits = {
  envelope_bytes: LIMITS.envelopeBytes,
  transaction_envelopes: LIMITS.transactionEnvelopes,
  transaction_bytes: LIMITS.transactionBytes,
  transactions_in_flight: LIMITS.transactionsInFlight,
  clock_skew_s: LIMITS.clockSkewMs / 1000,
};

/** The document that a domain with these facts serves. */
export function describeDomain(facts: DiscoveryFacts): DiscoveryDocument {
  return discoverySchema.parse({
    ...facts,
    schema_version: SCHEMA_VERSION,
    bundle: `${facts.gateway}/federation/v1/bundle`,
    directory: `${facts.gateway}/federation/v1/directory`,
    request_signatures: ['rfc9421'],
    limits: ownLimits,
  });
}

/** Reads a document fetched for a domain; it must speak of that domain and of a signature scheme that we have. */
export function parseDiscovery(
  bytes: Uint8Array,
  domain: Domain,
): { readonly ok: true; readonly document: DiscoveryDocument } | Refusal<'discovery_invalid'> {
  const json = parse(bytes);
  if (!json.ok) return json;
  const read = readAs(discoverySchema, json.value, 'discovery_invalid');
  if (!read.ok) return read;
  if (read.value.domain !== domain)
    return refuse('discovery_invalid', `it speaks of ${read.value.domain}, not ${domain}`);
  if (!read.value.request_signatures.includes('rfc9421')) {
    return refuse('discovery_invalid', 'it does not take rfc9421 signatures');
  }
  return { ok: true, document: read.value };
}

function parse(bytes: Uint8Array): { readonly ok: true; readonly value: unknown } | Refusal<'discovery_invalid'> {
  try {
    return { ok: true, value: parseStrictJson(bytes, { maxBytes: LIMITS.discoveryBytes }) };
  } catch (error) {
    if (error instanceof Problem) return refuse('discovery_invalid', error.detail);
    throw error;
  }
}

function isPlainHttps(text: string): boolean {
  if (!text.startsWith('https://') || text.endsWith('/') || /[?#\s\\]/.test(text)) return false;
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.username === '' && url.password === '' && (url.href === text || url.href === `${text}/`);
}
