/**
 * Receipts: signed statements of one domain about what it has done. Each type states one layer only:
 * stored is not read, read is not accepted, accepted is not done. A receipt never asks for a receipt.
 */

import { z } from 'zod';
import { type DomainBundle, keyAt } from './domain-bundle.js';
import type { Sign } from './ed25519.js';
import { parseInstant } from './encoding.js';
import { assembleJws, type JwsRefusal, proveJws, readJws, type UnverifiedJws } from './jws.js';
import { LIMITS } from './limits.js';
import { type Refusal, refuse } from './problem.js';
import { incarnationSchema, resultSchema } from './transaction.js';
import {
  addressSchema,
  digestSchema,
  domainSchema,
  idSchema,
  instantSchema,
  readAs,
  shortTextSchema,
} from './wire-schema.js';

export const RECEIPT_TYPES = [
  'delivery.accepted',
  'delivery.parked',
  'delivery.rejected',
  'delivery.expired',
  'message.received',
  'interaction.accepted',
  'interaction.rejected',
  'commitment.active',
  'effect.settled',
] as const;

const commonShape = {
  receipt_id: idSchema('rcpt'),
  /** What it is about, by id, and the digest of exactly what was seen. */
  subject_ref: z.string().min(1).max(LIMITS.identifierBytes),
  subject_digest: digestSchema,
  issuer: domainSchema,
  observed_at: instantSchema,
  code: z.string().regex(/^[a-z_.]{1,64}$/),
  detail: shortTextSchema,
};

const itemReceiptSchema = z.object({
  ...commonShape,
  type: z.enum(RECEIPT_TYPES),
  /** The mailbox concerned, where the subject went to several. */
  recipient: addressSchema.optional(),
});

/** One receipt over a whole batch; `subject_digest` is of the exact transaction body. */
const transactionReceiptSchema = z.object({
  ...commonShape,
  type: z.literal('transaction-receipt'),
  transaction_id: idSchema('txn'),
  origin: domainSchema,
  destination: domainSchema,
  /** Of the receiver. */
  incarnation: incarnationSchema,
  results: z.array(resultSchema).max(LIMITS.transactionEnvelopes * LIMITS.recipients),
});

export const receiptSchema = z.discriminatedUnion('type', [itemReceiptSchema, transactionReceiptSchema]);

export type Receipt = z.infer<typeof receiptSchema>;
export type ItemReceipt = z.infer<typeof itemReceiptSchema>;
export type TransactionReceipt = z.infer<typeof transactionReceiptSchema>;

const proof = Symbol('VerifiedReceipt');

export type VerifiedReceipt = {
  readonly ok: true;
  readonly receipt: Receipt;
  readonly token: string;
  readonly [proof]: 'receipt';
};

/** Seals a receipt with the domain key `kid`. */
export function sealReceipt(receipt: Receipt, kid: string, sign: Sign): Promise<string> {
  return assembleJws({ typ: 'receipt+jwt', kid, payload: receiptSchema.parse(receipt) }, sign);
}

type VerifyReceiptOptions = { readonly bundle: DomainBundle; readonly now: Date };

/** Reads a receipt's token without verifying it. */
export function readReceipt(token: string): UnverifiedJws | JwsRefusal {
  return readJws(token, LIMITS.receiptBytes);
}

/** Verifies a receipt that was read against the bundle of the domain that must have issued it. */
export async function verifyReceipt(
  unverified: UnverifiedJws | JwsRefusal,
  { bundle, now }: VerifyReceiptOptions,
): Promise<VerifiedReceipt | Refusal<'receipt_invalid'>> {
  if (!unverified.ok) return refuse('receipt_invalid', unverified.detail);
  const read = readAs(receiptSchema, unverified.payload, 'receipt_invalid');
  if (!read.ok) return read;
  const receipt = read.value;
  if (receipt.issuer !== bundle.domain)
    return refuse('receipt_invalid', `issued by ${receipt.issuer}, not ${bundle.domain}`);
  const observedAt = parseInstant(receipt.observed_at);
  if (!observedAt || observedAt.getTime() > now.getTime() + LIMITS.clockSkewMs) {
    return refuse('receipt_invalid', `observed at ${receipt.observed_at}, ahead of this clock`);
  }
  const signer = keyAt(bundle, unverified.kid, observedAt);
  if (!signer.ok) return refuse('receipt_invalid', signer.detail);
  const verified = await proveJws(unverified, { typ: 'receipt+jwt', keys: () => signer.key });
  if (!verified.ok) return refuse('receipt_invalid', verified.detail);
  return { ok: true, receipt, token: unverified.token, [proof]: 'receipt' };
}
