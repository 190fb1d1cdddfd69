/**
 * A transaction: one pairwise batch of envelopes and signals, and its answer. The frame is refused as a whole; inside it
 * each item stands for itself, so that one bad item never costs its neighbours anything.
 */

import { z } from 'zod';
import type { Domain } from './address.js';
import { toUtf8 } from './encoding.js';
import { type OpenedEnvelope, type OpenRefusal, openEnvelope, type WireEnvelope } from './envelope.js';
import { LIMITS } from './limits.js';
import { Problem, REFUSAL_CODES } from './problem.js';
import { parseStrictJson } from './strict-json.js';
import { addressSchema, decimalSchema, describeIssues, domainSchema, idSchema } from './wire-schema.js';

/** Names one life of a domain's database: it changes with a restore from backup, and peers then compare watermarks. */
export const incarnationSchema = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'not an incarnation');

export const transactionFrameSchema = z.object({
  origin: domainSchema,
  destination: domainSchema,
  incarnation: incarnationSchema,
  certificates: z.array(z.unknown()),
  envelopes: z.array(z.unknown()),
  signals: z.array(z.unknown()),
});

export const signalSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('receipt'), receipt: z.string().max(LIMITS.receiptBytes) }),
  z.object({ type: z.literal('bundle.changed'), sequence: decimalSchema }),
]);

export const resultSchema = z.object({
  message_id: z.union([z.literal(''), idSchema('msg')]),
  recipient: z.union([z.literal(''), addressSchema]),
  result: z.enum(['accepted', 'duplicate', 'parked', 'rejected', 'retry']),
  /** A code that this version does not know is still a refusal: senders must not fail over a new word. */
  code: z.union([z.enum(REFUSAL_CODES), z.string().regex(/^[a-z_]{1,64}$/)]).optional(),
  /** Names what was stored; a duplicate is answered with the first one's. */
  receipt_id: idSchema('rcpt').optional(),
  /** Seconds to wait, with `retry`. */
  after: z.int().min(0).max(LIMITS.retryAfterS).optional(),
  /** The place in the batch, with items whose message id could not be read. */
  index: z.int().min(0).max(LIMITS.transactionEnvelopes).optional(),
});

export const transactionAnswerSchema = z.object({
  results: z.array(resultSchema).max(LIMITS.transactionEnvelopes * LIMITS.recipients),
  receipt: z.string().max(LIMITS.receiptBytes),
});

export type Signal = z.infer<typeof signalSchema>;
export type TransactionResult = z.infer<typeof resultSchema>;
export type TransactionAnswer = z.infer<typeof transactionAnswerSchema>;

export type TransactionDraft = {
  readonly origin: Domain;
  readonly destination: Domain;
  readonly incarnation: string;
  readonly certificates: readonly string[];
  readonly envelopes: readonly WireEnvelope[];
  readonly signals: readonly Signal[];
};

export type TransactionItem =
  | { readonly index: number; readonly opened: OpenedEnvelope }
  | { readonly index: number; readonly refused: OpenRefusal };

export type ParsedTransaction = {
  readonly origin: Domain;
  readonly destination: Domain;
  readonly incarnation: string;
  /** Certificate tokens, unverified; what is no string of allowed length is left out and then missed by its envelope. */
  readonly certificates: readonly string[];
  readonly items: readonly TransactionItem[];
  /** Signals of known shape. Others are passed over: a newer peer may send more kinds. */
  readonly signals: readonly Signal[];
};

/** The exact bytes to store and to send at every attempt. */
export function encodeTransaction(draft: TransactionDraft): Uint8Array {
  const fault = countFaultOf(draft);
  if (fault) throw new RangeError(fault);
  const bytes = toUtf8(JSON.stringify(draft));
  if (bytes.byteLength > LIMITS.transactionBytes) throw new RangeError('the transaction passes its byte limit');
  return bytes;
}

/** Parses the frame or throws a Problem; items come back one by one, opened or refused. */
export function parseTransaction(bytes: Uint8Array): ParsedTransaction {
  const json = parseStrictJson(bytes, { maxBytes: LIMITS.transactionBytes });
  const parsed = transactionFrameSchema.safeParse(json);
  if (!parsed.success) throw new Problem('schema_invalid', describeIssues(parsed.error));
  const frame = parsed.data;
  const fault = countFaultOf(frame);
  if (fault) throw new Problem('too_large', fault);
  return {
    origin: frame.origin,
    destination: frame.destination,
    incarnation: frame.incarnation,
    certificates: frame.certificates.filter(isCertificateText),
    items: frame.envelopes.map(toItem),
    signals: frame.signals.flatMap((signal) => signalSchema.safeParse(signal).data ?? []),
  };
}

/** The text whose UTF-8 is sent. Its results are the ones that the receipt was sealed over. */
export function encodeTransactionAnswer(answer: TransactionAnswer): string {
  return JSON.stringify(answer);
}

/** Parses a peer's answer or throws a Problem; the receipt in it is still to be verified. */
export function parseTransactionAnswer(bytes: Uint8Array): TransactionAnswer {
  const parsed = transactionAnswerSchema.safeParse(parseStrictJson(bytes, { maxBytes: LIMITS.answerBytes }));
  if (!parsed.success) throw new Problem('schema_invalid', describeIssues(parsed.error));
  return parsed.data;
}

function toItem(item: unknown, index: number): TransactionItem {
  const opened = openEnvelope(item);
  return opened.ok ? { index, opened } : { index, refused: opened };
}

function isCertificateText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LIMITS.certificateBytes;
}

type Counted = { certificates: readonly unknown[]; envelopes: readonly unknown[]; signals: readonly unknown[] };

function countFaultOf({ certificates, envelopes, signals }: Counted): string | undefined {
  if (certificates.length > LIMITS.transactionCertificates) return `${certificates.length} certificates`;
  if (envelopes.length > LIMITS.transactionEnvelopes) return `${envelopes.length} envelopes`;
  if (signals.length > LIMITS.transactionSignals) return `${signals.length} signals`;
  return undefined;
}
