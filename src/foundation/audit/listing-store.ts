/** The audit log of one home, the newest first. */
import type { Sql } from '../../platform/index.js';
import {
  between,
  inOrder,
  inRange,
  type Placed,
  placeColumn,
  readEdges,
  readTimed,
  type TimedRange,
  type TimedRows,
} from '../timed-list/index.js';
import type { AuditEntry } from './audit-entry.js';

export type AuditRecord = Required<AuditEntry> & { id: string; at: Date };

export interface ListAudit {
  home: string;
  action?: string | undefined;
  object?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  range: TimedRange;
}

const sorted = { table: 'foundation.audit_entries', by: 'at' } as const;

export function listAudit(sql: Sql, list: ListAudit): Promise<TimedRows<AuditRecord>> {
  const { home, action, object, range } = list;
  return readTimed<AuditRecord>({
    range,
    edges: (from) => readEdges(sql, { ...sorted, from, scope: { homes: [home] } }),
    rows: () => sql<Placed<AuditRecord>[]>`
      select home, id, at, actor, action, object, outcome, details, ${placeColumn(sql, sorted)}
        from foundation.audit_entries
       where home = ${home}
         ${action === undefined ? sql`` : sql`and action = ${action}`}
         ${object === undefined ? sql`` : sql`and object = ${object}`}
         ${between(sql, sorted, list)}
         ${inRange(sql, sorted, range)}
       ${inOrder(sql, sorted, range)}`,
  });
}
