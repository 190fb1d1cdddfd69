/**
 * Decides a transaction's items in one database transaction and stores the results with what they say. An item that the
 * database refuses undoes itself alone (BR: one poison message never blocks its neighbours).
 */
import { type Principal, principalsByAddress, receives } from '../../home/index.js';
import { isConnectionLost, isRetryableConflict, type Sql, type Tx } from '../../platform/index.js';
import {
  type Address,
  isAddress,
  isId,
  Problem,
  type RefusalCode,
  type TransactionResult,
} from '../../protocol/index.js';
import type { Gateway } from '../parts.js';
import { acceptBatch, type Delivery, type Outcome } from './accept-batch.js';
import { type InboundTransaction, saveResults } from './store.js';
import type { DecidedItem, RefusedItem, VerifiedItem } from './verify-items.js';

const attempts = 4;
/** While a recipient moves home, what comes for it waits this long. */
const migratingRetryS = 60;
/** What a sender waits before it offers the rest of a conversation again, when an item of it has to wait. */
const heldConversationS = 60;

/** Accepting needs everything of a gateway but the way to share commits. */
export type AcceptGateway = Omit<Gateway, 'accepts'>;

export type AcceptItems = InboundTransaction & { claim: string; items: readonly DecidedItem[] };

/** One transaction by itself. */
export async function acceptItems(gateway: AcceptGateway, accept: AcceptItems): Promise<TransactionResult[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [results] = await commitAccepts(gateway, [accept], acceptOrBisect);
      if (!results) throw new Error('a transaction was accepted without results');
      return results;
    } catch (error) {
      // Two transactions for the same people met; one of them starts again.
      if (attempt >= attempts || !isRetryableConflict(error)) throw error;
    }
  }
}

type Outcomes = ReadonlyMap<Delivery, Outcome>;
type Take = (gateway: AcceptGateway, tx: Tx, deliveries: readonly Delivery[]) => Promise<Outcomes>;

/** Several transactions in one commit: the results of each, in their order. */
export function commitAccepts(
  gateway: AcceptGateway,
  accepts: readonly AcceptItems[],
  take: Take,
): Promise<TransactionResult[][]> {
  return gateway.db.transact('gateway.accept', async (tx) => {
    const recipients = await readRecipients(
      tx,
      accepts.flatMap(({ items }) => items),
    );
    const admitted = accepts.map((accept) => admitItems(recipients, accept));
    const deliveries = admitted.flat().flatMap((each) => ('delivery' in each ? [each.delivery] : []));
    const outcomes = await take(gateway, tx, deliveries);
    const results = admitted.map((each) => each.map((one) => resultOf(one, outcomes)));
    await Promise.all(accepts.map((accept, place) => settleResults(tx, accept, results[place] ?? [])));
    return results;
  });
}

function admitItems(recipients: Recipients, { items, transactionId }: AcceptItems): Admitted[] {
  const waiting = new Set<string>();
  return items.flatMap((item): Admitted[] => {
    if ('refused' in item) return refusedResults(item.refused);
    const { to } = item.verified.envelope.header;
    return to.map((address) => admit({ item: item.verified, address, recipients, waiting, transactionId }));
  });
}

function resultOf(each: Admitted, outcomes: Outcomes): TransactionResult {
  if (!('delivery' in each)) return each;
  return { ...each.named, ...(outcomes.get(each.delivery) ?? { result: 'rejected', code: 'internal' }) };
}

/** Stores the results under the claim; whoever lost the claim meanwhile takes everything back. */
export async function settleResults(tx: Tx, accept: AcceptItems, results: TransactionResult[]): Promise<void> {
  const { peer, transactionId, claim } = accept;
  if (await saveResults(tx, { peer, transactionId, claim, results })) return;
  throw new Problem('unavailable', 'this transaction is being worked on elsewhere', { extra: { retry_after_s: 1 } });
}

type Recipients = ReadonlyMap<Address, Principal>;

async function readRecipients(sql: Sql, items: readonly DecidedItem[]): Promise<Recipients> {
  const addresses = items.flatMap((item) => ('verified' in item ? item.verified.envelope.header.to : []));
  const principals = await principalsByAddress(sql, addresses);
  return new Map(principals.map((principal) => [principal.address, principal]));
}

interface One {
  item: VerifiedItem;
  address: Address;
  recipients: Recipients;
  /** Conversations of which an item has to wait: what comes after it waits too, so that order is kept (D9). */
  waiting: Set<string>;
  transactionId: string;
}

type Named = Pick<TransactionResult, 'message_id' | 'recipient'>;
type Admitted = TransactionResult | { named: Named; delivery: Delivery };

/** What can be said without looking further than the recipient. */
function admit({ item, address, recipients, waiting, transactionId }: One): Admitted {
  const { message_id, conversation_id } = item.envelope.header;
  const named: Named = { message_id, recipient: address };
  const recipient = recipients.get(address);
  if (waiting.has(conversation_id)) return { ...named, result: 'retry', after: heldConversationS };
  // One code for the unknown and the ended: the answer tells nobody who exists.
  if (!recipient || !receives(recipient)) return { ...named, result: 'rejected', code: 'recipient_unavailable' };
  if (recipient.status === 'migrating') {
    waiting.add(conversation_id);
    return { ...named, result: 'retry', after: migratingRetryS };
  }
  if (!item.interaction.ok) return { ...named, result: 'rejected', code: item.interaction.reason };
  return { named, delivery: { item, recipient, interaction: item.interaction.interaction, transactionId } };
}

/** All at once or none: throws what the database refuses. */
export async function acceptWhole(gateway: AcceptGateway, tx: Tx, deliveries: readonly Delivery[]): Promise<Outcomes> {
  if (deliveries.length === 0) return new Map();
  const decided = await acceptBatch(gateway, tx, deliveries);
  return new Map(
    deliveries.flatMap((delivery, index) => {
      const outcome = decided[index];
      return outcome ? [[delivery, outcome] as const] : [];
    }),
  );
}

/** All at once; if the database refuses that, the halves in order, until what it refuses stands alone. */
async function acceptOrBisect(gateway: AcceptGateway, tx: Tx, deliveries: readonly Delivery[]): Promise<Outcomes> {
  const outcomes = new Map<Delivery, Outcome>();
  const open = deliveries.length === 0 ? [] : [deliveries];
  for (let part = open.shift(); part !== undefined; part = open.shift()) {
    const batch = part;
    try {
      const decided = await tx.savepoint((inner) => acceptWhole(gateway, inner, batch));
      for (const [delivery, outcome] of decided) outcomes.set(delivery, outcome);
    } catch (error) {
      // What is wrong with the database or with all of it is thrown on.
      if (isConnectionLost(error) || isRetryableConflict(error)) throw error;
      const [only] = batch;
      const half = Math.ceil(batch.length / 2);
      if (batch.length > 1) open.unshift(batch.slice(0, half), batch.slice(half));
      else if (only) outcomes.set(only, { result: 'rejected', code: refusalOf(gateway, only, error) });
    }
  }
  return outcomes;
}

/** What is wrong with one delivery stays with it. */
function refusalOf(gateway: AcceptGateway, { item }: Delivery, error: unknown): RefusalCode {
  if (error instanceof Problem && error.status < 500) return 'interaction_invalid';
  const { header, origin } = item.envelope;
  gateway.log.error({ err: error, peer: origin, messageId: header.message_id }, 'an item could not be stored');
  return 'internal';
}

export function refusedResults({ index, messageId, recipients, reason }: RefusedItem): TransactionResult[] {
  const refusal = { result: 'rejected', code: reason } as const;
  if (!isId('msg', messageId)) return [{ message_id: '', recipient: '', ...refusal, index }];
  const known = recipients.filter(isAddress);
  if (known.length === 0) return [{ message_id: messageId, recipient: '', ...refusal, index }];
  return known.map((recipient) => ({ message_id: messageId, recipient, ...refusal }));
}
