/** The audit log: written in the transaction that did what it tells of, never changed (F20). */
import type { Tx } from '../../platform/index.js';
import type { AuditEntry } from './audit-entry.js';

export function appendAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  return appendAudits(tx, [entry]);
}

export async function appendAudits(tx: Tx, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ home, actor, action, object, outcome, details = {} }) => ({
    home,
    actor,
    action,
    object,
    outcome,
    details,
  }));
  // The id comes from the database, so that who audits needs no source of ids; `at` gives the order.
  await tx`
    insert into foundation.audit_entries (home, id, actor, action, object, outcome, details)
    select home, 'aud_' || gen_random_uuid(), actor, action, object, outcome, details
      from jsonb_to_recordset(${tx.json(rows)})
           as e (home text, actor text, action text, object text, outcome text, details jsonb)`;
}
