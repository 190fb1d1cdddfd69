// Stores messages in mailboxes, each once: the first copy gets the next position, a repeat finds the first.
import type { Tx } from '../../platform/index.js';
import type { DeliveryIdentity, ExistingMessage, NewMessage } from './mailbox-message.js';
import { appendMessages, findMessages, lockMailboxRows } from './store.js';

export type StoreResult = { stored: true; position: number } | { stored: false; existing: ExistingMessage };

/** The mailbox must exist: who resolves recipients answers for unknown ones before this. */
export async function storeMessage(tx: Tx, message: NewMessage): Promise<StoreResult> {
  const existing = (await knownMessages(tx, [message])).get(0);
  if (existing) return { stored: false, existing };
  const [position] = await storeNewMessages(tx, [message]);
  if (position === undefined) throw new Error('a message got no position');
  return { stored: true, position };
}

/**
 * Which of these are stored already, by place; looked up under the locks, so that it stays so until the commit. Both are sent
 * at once: a transaction's statements are done one after the other.
 */
export async function knownMessages(
  tx: Tx,
  identities: readonly DeliveryIdentity[],
): Promise<ReadonlyMap<number, ExistingMessage>> {
  const locked = lockMailboxes(
    tx,
    identities.map(({ home }) => home),
  );
  const [, found] = await Promise.all([locked, findMessages(tx, identities)]);
  return found;
}

/** Messages that `knownMessages` did not find, no two of one identity; answers their positions in the order given. */
export async function storeNewMessages(tx: Tx, messages: readonly NewMessage[]): Promise<number[]> {
  return messages.length === 0 ? [] : appendMessages(tx, messages);
}

/** Locks several mailboxes in one order, so that two batches to the same recipients never wait for each other in a ring. */
export async function lockMailboxes(tx: Tx, homes: readonly string[]): Promise<void> {
  const wanted = new Set(homes);
  if (wanted.size === 0) return;
  const locked = await lockMailboxRows(tx, [...wanted]);
  const missing = [...wanted].find((home) => !locked.has(home));
  if (missing !== undefined) throw new Error(`no mailbox for the home ${missing}`);
}
