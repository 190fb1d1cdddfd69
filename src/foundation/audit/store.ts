/** The audit log: written in the transaction that did what it tells of, never changed (F20). */
import type { Tx } from '../../platform/index.js';
import type { AuditEntry } from './audit-entry.js';

export async function appendAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  // The id comes from the database, so that who audits needs no source of ids; `at` gives the order.
  await tx`
    insert into foundation.audit_entries (home, id, actor, action, object, outcome, details)
    values (
      ${entry.home}, 'aud_' || gen_random_uuid(), ${entry.actor}, ${entry.action}, ${entry.object}, ${entry.outcome},
      ${tx.json(entry.details ?? {})}
    )`;
}
