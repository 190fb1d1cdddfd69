/** The SQL of schedules. Due is what the database's clock says. */
import type { Sql, Tx } from '../../platform/index.js';
import type { JsonValue } from '../../protocol/index.js';
import type { ScheduleRecord } from './schedule.js';

export type InsertSchedule = Omit<
  ScheduleRecord,
  'status' | 'lastSlotAt' | 'firedCount' | 'endedReason' | 'createdAt' | 'nextFireAt'
> & { nextFireAt: Date };

export async function insertSchedule(tx: Tx, schedule: InsertSchedule): Promise<ScheduleRecord> {
  const [row] = await tx<ScheduleRecord[]>`
    insert into foundation.schedules (
      home, id, tenant, owner, trust_class, key, kind, rule, deliver, catch_up, agent, session_id, subject, data, status,
      next_fire_at)
    values (
      ${schedule.home}, ${schedule.id}, ${schedule.tenant}, ${schedule.owner}, ${schedule.trustClass}, ${schedule.key},
      ${schedule.kind}, ${tx.json({ ...schedule.rule })}, ${schedule.deliver}, ${schedule.catchUp}, ${schedule.agent},
      ${schedule.sessionId}, ${schedule.subject}, ${jsonOrNull(tx, schedule.data)}, 'active', ${schedule.nextFireAt})
    on conflict (home, key) where key is not null and status <> 'cancelled' do update
       set owner = excluded.owner, trust_class = excluded.trust_class, kind = excluded.kind, rule = excluded.rule,
           deliver = excluded.deliver, catch_up = excluded.catch_up, agent = excluded.agent,
           session_id = excluded.session_id, subject = excluded.subject, data = excluded.data,
           (next_fire_at, advanced_at, status, ended_reason) = (
             select case when same then schedules.next_fire_at else excluded.next_fire_at end,
                    case when same then schedules.advanced_at else excluded.advanced_at end,
                    case when same then schedules.status else 'active' end,
                    case when same then schedules.ended_reason end
               from (select schedules.rule = excluded.rule as same) compared)
    returning ${columns(tx)}`;
  if (!row) throw new Error('a schedule was not written');
  return row;
}

function jsonOrNull(tx: Tx, data: JsonValue) {
  return data === null ? null : tx.json(data);
}

/** Two that add at the same time count each other. */
export async function lockSchedulesOf(tx: Tx, home: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`schedules ${home}`}, 0))`;
}

/** Without what the domain watches by itself; with the instant that slots are computed from. */
export async function countSchedules(sql: Sql, home: string): Promise<{ count: number; now: Date }> {
  const [row] = await sql<{ count: number; now: Date }[]>`
    select count(*) as count, hearth_now() as now
      from foundation.schedules
     where home = ${home} and status = 'active' and owner <> 'system:expiry'`;
  if (!row) throw new Error('nothing was counted');
  return row;
}

export async function selectScheduleByKey(sql: Sql, home: string, key: string): Promise<ScheduleRecord | undefined> {
  const [row] = await sql<ScheduleRecord[]>`
    select ${columns(sql)}
      from foundation.schedules
     where home = ${home} and key = ${key} and status <> 'cancelled'`;
  return row;
}

export async function selectSchedule(sql: Sql, home: string, id: string): Promise<ScheduleRecord | undefined> {
  const [row] = await sql<ScheduleRecord[]>`
    select ${columns(sql)}
      from foundation.schedules
     where home = ${home} and id = ${id}`;
  return row;
}

export interface ListSchedules {
  home: string;
  status?: ScheduleRecord['status'] | undefined;
  /** The id after which the page begins. */
  after: string;
  limit: number;
}

export function selectSchedules(sql: Sql, { home, status, after, limit }: ListSchedules): Promise<ScheduleRecord[]> {
  return sql<ScheduleRecord[]>`
    select ${columns(sql)}
      from foundation.schedules
     where home = ${home} and id > ${after}
       ${status === undefined ? sql`` : sql`and status = ${status}`}
     order by id
     limit ${limit}`;
}

/** Those whose slot has come, each locked by one process; with the instant that they are judged by. */
export function lockDueSchedules(tx: Tx, limit: number): Promise<(ScheduleRecord & { now: Date; nextFireAt: Date })[]> {
  return tx<(ScheduleRecord & { now: Date; nextFireAt: Date })[]>`
    select ${columns(tx)}, hearth_now() as now
      from foundation.schedules
     where status = 'active' and next_fire_at <= hearth_now()
     order by next_fire_at
     limit ${limit}
       for update skip locked`;
}

/** Those whose next slot was computed by a clock that has been put back since; each locked by one process. */
export function lockAheadSchedules(tx: Tx, limit: number): Promise<(ScheduleRecord & { now: Date })[]> {
  return tx<(ScheduleRecord & { now: Date })[]>`
    select ${columns(tx)}, hearth_now() as now
      from foundation.schedules
     where status = 'active' and kind in ('cron', 'heartbeat') and advanced_at > hearth_now() + interval '1 minute'
     order by advanced_at
     limit ${limit}
       for update skip locked`;
}

/** How long until the next slot, below zero when it has come; undefined when there is none. */
export async function selectNextSlotMs(sql: Sql): Promise<number | undefined> {
  const [row] = await sql<{ waitMs: number }[]>`
    select (extract(epoch from next_fire_at - hearth_now()) * 1000)::float8 as wait_ms
      from foundation.schedules
     where status = 'active'
     order by next_fire_at
     limit 1`;
  return row?.waitMs;
}

export interface AdvanceSchedule {
  home: string;
  id: string;
  /** Absent when no slot is left. */
  nextFireAt: Date | undefined;
  lastSlotAt?: Date | undefined;
  fired: number;
  reason: string | null;
}

/** active → active or ended, for schedules that the caller has locked. */
export async function advanceSchedules(tx: Tx, advances: readonly AdvanceSchedule[]): Promise<void> {
  const given = advances.map(({ home, id, nextFireAt, lastSlotAt, fired, reason }) => ({
    home,
    id,
    next: nextFireAt?.toISOString() ?? null,
    last: lastSlotAt?.toISOString() ?? null,
    fired,
    reason,
  }));
  await tx`
    update foundation.schedules s
       set next_fire_at = g.next, advanced_at = hearth_now(), last_slot_at = coalesce(g.last, s.last_slot_at),
           fired_count = s.fired_count + g.fired, status = case when g.next is null then 'ended' else 'active' end, ended_reason = g.reason
      from jsonb_to_recordset(${tx.json(given)})
           as g (home text, id text, next timestamptz, last timestamptz, fired bigint, reason text)
     where s.home = g.home and s.id = g.id`;
}

/** active → cancelled. False when it is over already, or never was. */
export async function cancelSchedule(tx: Tx, { home, id }: { home: string; id: string }): Promise<boolean> {
  const rows = await tx`
    update foundation.schedules
       set status = 'cancelled', next_fire_at = null
     where home = ${home} and id = ${id} and status = 'active'
    returning 1`;
  return rows.length === 1;
}

export async function cancelScheduleByKey(tx: Tx, { home, key }: { home: string; key: string }): Promise<boolean> {
  const rows = await tx`
    update foundation.schedules
       set status = 'cancelled', next_fire_at = null
     where home = ${home} and key = ${key} and status = 'active'
    returning 1`;
  return rows.length === 1;
}

function columns(sql: Sql) {
  return sql`
    home, id, tenant, owner, trust_class, key, kind, rule, deliver, catch_up, agent, session_id, subject, data, status,
    next_fire_at, last_slot_at, fired_count, ended_reason, created_at`;
}
