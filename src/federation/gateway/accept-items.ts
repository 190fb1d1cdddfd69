/**
 * Decides a transaction's items in one database transaction and stores the results with what they say. An item that the
 * database refuses undoes itself alone (BR: one poison message never blocks its neighbours).
 */
import { lockMailboxes, type Principal, principalByAddress } from '../../home/index.js';
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
import { acceptItem, ItemRefused } from './accept-item.js';
import { type InboundTransaction, saveResults } from './store.js';
import type { DecidedItem, RefusedItem, VerifiedItem } from './verify-items.js';

const attempts = 4;
/** What a sender waits before it offers the rest of a conversation again, when an item of it has to wait. */
const heldConversationS = 60;

export type AcceptItems = InboundTransaction & { claim: string; items: readonly DecidedItem[] };

export async function acceptItems(gateway: Gateway, accept: AcceptItems): Promise<TransactionResult[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await gateway.db.transact('gateway.accept', (tx) => acceptIn(gateway, tx, accept));
    } catch (error) {
      // Two transactions for the same people met; one of them starts again.
      if (attempt >= attempts || !isRetryableConflict(error)) throw error;
    }
  }
}

type Recipients = ReadonlyMap<Address, Principal>;

async function acceptIn(gateway: Gateway, tx: Tx, accept: AcceptItems): Promise<TransactionResult[]> {
  const recipients = await readRecipients(tx, accept.items);
  await lockMailboxes(
    tx,
    [...recipients.values()].map((recipient) => recipient.home),
  );
  const results: TransactionResult[] = [];
  const waiting = new Set<string>();
  for (const item of accept.items) {
    if ('refused' in item) {
      results.push(...refusedResults(item.refused));
      continue;
    }
    for (const address of item.verified.envelope.header.to) {
      const decided = await decideOne(gateway, tx, {
        accept,
        item: item.verified,
        address,
        recipient: recipients.get(address),
        waiting,
      });
      results.push(decided);
    }
  }
  await settleResults(tx, accept, results);
  return results;
}

/** Stores the results under the claim; whoever lost the claim meanwhile takes everything back. */
export async function settleResults(tx: Tx, accept: AcceptItems, results: TransactionResult[]): Promise<void> {
  const { peer, transactionId, claim } = accept;
  if (await saveResults(tx, { peer, transactionId, claim, results })) return;
  throw new Problem('unavailable', 'this transaction is being worked on elsewhere', { extra: { retry_after_s: 1 } });
}

async function readRecipients(sql: Sql, items: readonly DecidedItem[]): Promise<Recipients> {
  const recipients = new Map<Address, Principal>();
  const addresses = items.flatMap((item) => ('verified' in item ? item.verified.envelope.header.to : []));
  for (const address of new Set(addresses)) {
    const principal = await principalByAddress(sql, address);
    if (principal) recipients.set(address, principal);
  }
  return recipients;
}

interface One {
  accept: AcceptItems;
  item: VerifiedItem;
  address: Address;
  recipient: Principal | undefined;
  /** Conversations of which an item has to wait: what comes after it waits too, so that order is kept (D9). */
  waiting: Set<string>;
}

async function decideOne(gateway: Gateway, tx: Tx, one: One): Promise<TransactionResult> {
  const { item, address, waiting } = one;
  const { message_id, conversation_id } = item.envelope.header;
  const named = { message_id, recipient: address };
  if (waiting.has(conversation_id)) return { ...named, result: 'retry', after: heldConversationS };
  try {
    const outcome = await tx.savepoint((inner) =>
      acceptItem(gateway, inner, { ...one, transactionId: one.accept.transactionId }),
    );
    if (outcome.result === 'retry') waiting.add(conversation_id);
    return { ...named, ...outcome };
  } catch (error) {
    return { ...named, result: 'rejected', code: refusalOf(gateway, one, error) };
  }
}

/** What is wrong with one item stays with it; what is wrong with the database or the batch is thrown on. */
function refusalOf(gateway: Gateway, { accept, item }: One, error: unknown): RefusalCode {
  if (error instanceof ItemRefused) return error.reason;
  if (error instanceof Problem && error.status < 500) return 'interaction_invalid';
  if (isConnectionLost(error) || isRetryableConflict(error)) throw error;
  const { message_id } = item.envelope.header;
  gateway.log.error({ err: error, peer: accept.peer, messageId: message_id }, 'an item could not be stored');
  return 'internal';
}

export function refusedResults({ index, messageId, recipients, reason }: RefusedItem): TransactionResult[] {
  const refusal = { result: 'rejected', code: reason } as const;
  if (!isId('msg', messageId)) return [{ message_id: '', recipient: '', ...refusal, index }];
  const known = recipients.filter(isAddress);
  if (known.length === 0) return [{ message_id: messageId, recipient: '', ...refusal, index }];
  return known.map((recipient) => ({ message_id: messageId, recipient, ...refusal }));
}
