// Stores one message in one mailbox, once: the first copy gets the next position, a repeat finds the first.
import type { Tx } from '../../platform/index.js';
import type { ExistingMessage, NewMessage } from './mailbox-message.js';
import { advanceMailbox, findMessage, insertMessage, lockMailbox } from './store.js';

export type StoreResult = { stored: true; position: number } | { stored: false; existing: ExistingMessage };

/** The mailbox must exist: who resolves recipients answers for unknown ones before this. */
export async function storeMessage(tx: Tx, message: NewMessage): Promise<StoreResult> {
  const last = await lockMailbox(tx, message.home);
  if (last === undefined) throw new Error(`no mailbox for the home ${message.home}`);
  const position = last + 1;
  if (await insertMessage(tx, message, position)) {
    await advanceMailbox(tx, message.home, position);
    return { stored: true, position };
  }
  const existing = await findMessage(tx, message);
  if (!existing) throw new Error('a message that exists cannot be read');
  return { stored: false, existing };
}

/** Locks several mailboxes in one order, so that two batches to the same recipients never wait for each other in a ring. */
export async function lockMailboxes(tx: Tx, homes: readonly string[]): Promise<void> {
  for (const home of [...new Set(homes)].sort()) await lockMailbox(tx, home);
}
