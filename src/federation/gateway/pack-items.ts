// How queued items become transactions: whole conversations together, so that several may travel at once and order is kept (D9).
import { principalsByHome } from '../../home/index.js';
import { fromUtf8, LIMITS, type ReceiverLimits, subjectKeyOf, type WireEnvelope } from '../../protocol/index.js';
import type { OutboxItem } from '../outbox/index.js';
import type { Gateway } from '../parts.js';
import type { Shipment } from './exchange-transaction.js';

/** Room for the frame and the certificates beside the envelopes; a receiver that takes little still gets an item at a time. */
const frameBytes = LIMITS.transactionCertificates * LIMITS.certificateBytes + 4_096;

export type DealLimits = Pick<ReceiverLimits, 'transaction_envelopes' | 'transaction_bytes'>;

interface Deal {
  items: OutboxItem[];
  bytes: number;
  /** Message and recipient pairs. */
  pairs: number;
}

/**
 * Deals items, in order, into transactions. A conversation stays in the one that its first item came into; when that is full,
 * the rest of the conversation waits for the next time. Pure.
 */
export function dealItems(items: readonly OutboxItem[], limits: DealLimits): OutboxItem[][] {
  const wanted = Math.ceil(items.length / limits.transaction_envelopes);
  const deals = Array.from({ length: wanted }, (): Deal => ({ items: [], bytes: 0, pairs: 0 }));
  const placed = new Map<string, Deal>();
  const held = new Set<string>();
  for (const item of items) {
    const { conversationId } = item;
    const deal = placed.get(conversationId) ?? emptiest(deals);
    if (!deal || held.has(conversationId) || !fits(deal, item, limits)) {
      held.add(conversationId);
      continue;
    }
    deal.items.push(item);
    deal.bytes += wireBytes(item);
    deal.pairs += item.recipients.length;
    placed.set(conversationId, deal);
  }
  return deals.flatMap((deal) => (deal.items.length > 0 ? [deal.items] : []));
}

function emptiest(deals: readonly Deal[]): Deal | undefined {
  return [...deals].sort((a, b) => a.items.length - b.items.length)[0];
}

/** The first always does: a lone item is never too large for the door that let it in. */
function fits(deal: Deal, item: OutboxItem, limits: DealLimits): boolean {
  if (deal.items.length === 0) return true;
  const bytes = deal.bytes + wireBytes(item);
  if (deal.pairs + item.recipients.length > LIMITS.transactionPairs) return false;
  return deal.items.length < limits.transaction_envelopes && bytes <= limits.transaction_bytes - frameBytes;
}

/** JSON may write a byte of text in two, and of a control character in six; signed bytes hold few of those. */
function wireBytes({ header, body }: OutboxItem): number {
  return 2 * (header.byteLength + body.byteLength) + 256;
}

export interface Packed {
  ready: OutboxItem[];
  shipment: Shipment;
  /** What its sender's domain can no longer vouch for. */
  unvouched: OutboxItem[];
}

/** Envelopes with a fresh certificate of each sender. */
export async function packItems(gateway: Gateway, items: readonly OutboxItem[]): Promise<Packed> {
  const homes = items.map((item) => item.home);
  const senders = await principalsByHome(gateway.db.sql, homes);
  const issued = await gateway.certifier.agentKeyCertificates(senders);
  const certificates = new Map([...issued].map(([home, token]) => [home, { token, keyRef: subjectKeyOf(token) }]));
  const ready: OutboxItem[] = [];
  const unvouched: OutboxItem[] = [];
  const envelopes: WireEnvelope[] = [];
  const used = new Set<string>();
  for (const item of items) {
    const wire = wireOf(item);
    const certificate = certificates.get(item.home);
    if (certificate === undefined || certificate.keyRef !== keyIdOf(wire)) {
      unvouched.push(item);
      continue;
    }
    ready.push(item);
    envelopes.push(wire);
    used.add(certificate.token);
  }
  const expected = ready.flatMap(({ messageId, recipients }) =>
    recipients.map((recipient) => ({ messageId, recipient })),
  );
  return { ready, unvouched, shipment: { envelopes, certificates: [...used], expected } };
}

function wireOf({ header, signature, body }: OutboxItem): WireEnvelope {
  return { header: textOf(header), signature, body: textOf(body) };
}

function textOf(bytes: Uint8Array): string {
  const text = fromUtf8(bytes);
  if (text === undefined) throw new Error('an outbox item is not UTF-8');
  return text;
}

/** The header is our own, opened when it was signed. */
function keyIdOf({ header }: WireEnvelope): unknown {
  const { key_id }: { key_id?: unknown } = JSON.parse(header);
  return key_id;
}
