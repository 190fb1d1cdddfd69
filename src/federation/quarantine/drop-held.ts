// An operator throws away what is held of an origin. Nothing is told to it: to a stranger that is what expiry looks like.
import { appendAudit } from '../../foundation/index.js';
import type { Database } from '../../platform/index.js';
import type { Domain } from '../../protocol/index.js';
import { domainTag } from '../parts.js';
import { deleteHeld } from './store.js';

export interface DropHeld {
  peer: Domain;
  /** Only this message; else everything of the origin. */
  messageId?: string | undefined;
  /** Address of who decides, for the audit. */
  actor: string;
}

/** Answers how many items went. */
export async function dropHeld(db: Database, { peer, messageId, actor }: DropHeld): Promise<number> {
  return db.transact('quarantine.drop', async (tx) => {
    const dropped = await deleteHeld(tx, { peer, messageId });
    if (dropped > 0) {
      await appendAudit(tx, {
        home: domainTag,
        actor,
        action: 'quarantine.drop',
        object: messageId ?? peer,
        outcome: 'dropped',
        details: { peer, items: dropped },
      });
    }
    return dropped;
  });
}
