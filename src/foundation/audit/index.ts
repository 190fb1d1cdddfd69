// The door of the audit room: who decided what about which object.
export type { AuditEntry } from './audit-entry.js';
export { type AuditRecord, listAudit } from './listing-store.js';
export { appendAudit, appendAudits } from './store.js';
