// The door of the audit room: who decided what about which object.
export type { AuditEntry } from './audit-entry.js';
export { appendAudit, appendAudits } from './store.js';
