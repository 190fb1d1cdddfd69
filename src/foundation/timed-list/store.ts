/** The pieces of SQL that lists sorted by time share. The table's rows are identified by `home` and `id`. */
import type { Sql } from '../../platform/index.js';
import { homeOf } from '../../protocol/index.js';
import type { Edges, TimedPlace, TimedRange } from './timed-list.js';

export interface Sorted {
  /** Qualified, and so written by us. */
  table: 'foundation.runs' | 'foundation.inputs' | 'foundation.sessions' | 'foundation.audit_entries';
  /** The column that the list is sorted by. */
  by: 'created_at' | 'received_at' | 'at';
}

/** Whose rows are listed. */
export interface Scope {
  /** Where the table knows of tenants. */
  tenant?: string;
  homes: readonly string[] | 'all';
}

export function inScope(sql: Sql, { tenant, homes }: Scope) {
  return sql`
       true
       ${tenant === undefined ? sql`` : sql`and tenant = ${tenant}`}
       ${homes === 'all' ? sql`` : sql`and home = any(${[...homes]})`}`;
}

/** The sorting instant in microseconds, for the place of each row. */
export function placeColumn(sql: Sql, { by }: Sorted) {
  return sql`(extract(epoch from ${sql(by)}) * 1000000)::bigint as at_us`;
}

export function inRange(sql: Sql, { by }: Sorted, { from, backwards }: TimedRange) {
  if (!from) return sql``;
  const at = sql`timestamptz 'epoch' + ${from.atUs}::bigint * interval '1 microsecond'`;
  if (backwards && from.inclusive) return sql`and (${sql(by)}, id) >= (${at}, ${from.id}::text)`;
  return backwards
    ? sql`and (${sql(by)}, id) > (${at}, ${from.id}::text)`
    : sql`and (${sql(by)}, id) < (${at}, ${from.id}::text)`;
}

export function inOrder(sql: Sql, { by }: Sorted, { backwards, limit }: TimedRange) {
  return backwards
    ? sql`order by ${sql(by)}, id limit ${limit}`
    : sql`order by ${sql(by)} desc, id desc limit ${limit}`;
}

/** Rows not before `since` and before `until`. */
export function between(
  sql: Sql,
  { by }: Sorted,
  { since, until }: { since?: Date | undefined; until?: Date | undefined },
) {
  return sql`
       ${since === undefined ? sql`` : sql`and ${sql(by)} >= ${since}`}
       ${until === undefined ? sql`` : sql`and ${sql(by)} < ${until}`}`;
}

/** Of the rows that are in scope. */
export async function readEdges(
  sql: Sql,
  { table, by, from, scope }: Sorted & { from: TimedPlace; scope: Scope },
): Promise<Edges> {
  const kept = await sql`
    select 1
      from ${sql(table)}
     where home = ${homeOf(from.id) ?? only(scope)} and id = ${from.id}`;
  if (kept.length > 0) return { kept: true, oldest: undefined, newest: undefined };
  const sorted = { table, by };
  const [oldest] = await sql<TimedPlace[]>`
    select ${placeColumn(sql, sorted)}, id
      from ${sql(table)}
     where ${inScope(sql, scope)}
     ${inOrder(sql, sorted, { limit: 1, backwards: true })}`;
  const [newest] = await sql<TimedPlace[]>`
    select ${placeColumn(sql, sorted)}, id
      from ${sql(table)}
     where ${inScope(sql, scope)}
     ${inOrder(sql, sorted, { limit: 1 })}`;
  return { kept: false, oldest, newest };
}

/** Ids of the audit log name no home: its lists are of one. */
function only({ homes }: Scope): string {
  return homes === 'all' ? '' : (homes[0] ?? '');
}
