/** Sessions, and the keys that lead to them. Who changes a session has its row locked. */
import type { Sql, Tx } from '../../platform/index.js';
import type { SessionRecord } from './session.js';

export interface InsertSession {
  home: string;
  id: string;
  tenant: string;
  agent: string;
  runtimeId: string;
  runtimeVersion: string;
  keys: readonly string[];
  forkedFrom?: { sessionId: string; runtimeStateRef: string | null };
}

/** A new, idle session. A key that leads elsewhere already keeps leading there. */
export async function insertSession(tx: Tx, session: InsertSession): Promise<SessionRecord> {
  const inserted = tx<SessionRecord[]>`
    insert into foundation.sessions (
      home, id, tenant, agent, state, runtime_id, runtime_version, runtime_state_ref, forked_from_session_id)
    values (
      ${session.home}, ${session.id}, ${session.tenant}, ${session.agent}, 'idle', ${session.runtimeId},
      ${session.runtimeVersion}, ${session.forkedFrom?.runtimeStateRef ?? null}, ${session.forkedFrom?.sessionId ?? null})
    returning ${sessionColumns(tx)}`.execute();
  const linked = session.keys.map((key) => linkSession(tx, { home: session.home, key, sessionId: session.id }));
  const [[row]] = await Promise.all([inserted, ...linked]);
  if (!row) throw new Error('a session was not written');
  return row;
}

/** New sessions, each with the run that makes it active, and no keys. */
export async function insertActiveSessions(
  tx: Tx,
  sessions: readonly (Omit<InsertSession, 'keys' | 'forkedFrom'> & { activeRunId: string })[],
): Promise<void> {
  const given = sessions.map(({ home, id, tenant, agent, runtimeId, runtimeVersion, activeRunId }) => ({
    home,
    id,
    tenant,
    agent,
    runtime_id: runtimeId,
    runtime_version: runtimeVersion,
    active_run_id: activeRunId,
  }));
  await tx`
    insert into foundation.sessions (home, id, tenant, agent, state, runtime_id, runtime_version, active_run_id)
    select home, id, tenant, agent, 'active', runtime_id, runtime_version, active_run_id
      from jsonb_to_recordset(${tx.json(given)})
           as s (home text, id text, tenant text, agent text, runtime_id text, runtime_version text, active_run_id text)`;
}

/** Which of these keys lead to a session of their home, written as `{home} {key}`. */
export async function knownSessionKeys(
  sql: Sql,
  keys: readonly { home: string; key: string }[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const rows = await sql<{ known: string }[]>`
    select k.home || ' ' || k.key as known
      from unnest(${keys.map(({ home }) => home)}::text[], ${keys.map(({ key }) => key)}::text[]) as n (home, key)
      join foundation.session_keys k on k.home = n.home and k.key = n.key`;
  return new Set(rows.map(({ known }) => known));
}

/** Several keys at once. */
export async function linkSessions(
  tx: Tx,
  links: readonly { home: string; key: string; sessionId: string }[],
): Promise<void> {
  if (links.length === 0) return;
  await tx`
    insert into foundation.session_keys (home, key, session_id)
    select home, key, session_id
      from unnest(${links.map(({ home }) => home)}::text[], ${links.map(({ key }) => key)}::text[],
                  ${links.map(({ sessionId }) => sessionId)}::text[]) as l (home, key, session_id)
    on conflict (home, key) do nothing`;
}

/** Lets a conversation, subject or correlation id lead to a session, unless it leads somewhere already. */
export async function linkSession(
  tx: Tx,
  { home, key, sessionId }: { home: string; key: string; sessionId: string },
): Promise<void> {
  await tx`
    insert into foundation.session_keys (home, key, session_id)
    values (${home}, ${key}, ${sessionId})
    on conflict (home, key) do nothing`;
}

/** The session that the first known key leads to, locked. */
export async function lockSessionByKeys(
  tx: Tx,
  home: string,
  keys: readonly string[],
): Promise<SessionRecord | undefined> {
  if (keys.length === 0) return undefined;
  const [found] = await tx<{ sessionId: string }[]>`
    select session_id
      from foundation.session_keys
     where home = ${home} and key = any(${[...keys]})
     order by array_position(${[...keys]}::text[], key)
     limit 1`;
  return found && lockSession(tx, { home, id: found.sessionId });
}

export async function lockSession(
  tx: Tx,
  { home, id }: { home: string; id: string },
): Promise<SessionRecord | undefined> {
  const [row] = await tx<SessionRecord[]>`
    select ${sessionColumns(tx)}
      from foundation.sessions
     where home = ${home} and id = ${id}
       for update`;
  return row;
}

export function selectSessionsById(sql: Sql, named: readonly { home: string; id: string }[]): Promise<SessionRecord[]> {
  return sql<SessionRecord[]>`
    select ${sessionColumns(sql)}
      from foundation.sessions
     where (home, id) in (select home, id
                            from unnest(${named.map(({ home }) => home)}::text[],
                                        ${named.map(({ id }) => id)}::text[]) as n (home, id))`;
}

/** Locks several, in one order. */
export async function lockSessions(tx: Tx, named: readonly { home: string; id: string }[]): Promise<SessionRecord[]> {
  return tx<SessionRecord[]>`
    select ${sessionColumns(tx)}
      from foundation.sessions
     where (home, id) in (select home, id
                            from unnest(${named.map(({ home }) => home)}::text[],
                                        ${named.map(({ id }) => id)}::text[]) as n (home, id))
     order by home, id
       for update`;
}

/** Several become idle, with nothing to go on from. */
export async function restSessions(tx: Tx, named: readonly { home: string; id: string }[]): Promise<void> {
  await tx`
    update foundation.sessions s
       set state = 'idle', active_run_id = null, runtime_state_ref = null, updated_at = hearth_now()
      from unnest(${named.map(({ home }) => home)}::text[],
                  ${named.map(({ id }) => id)}::text[]) as n (home, id)
     where s.home = n.home and s.id = n.id`;
}

export async function selectSession(sql: Sql, home: string, id: string): Promise<SessionRecord | undefined> {
  const [row] = await sql<SessionRecord[]>`
    select ${sessionColumns(sql)}
      from foundation.sessions
     where home = ${home} and id = ${id}`;
  return row;
}

export interface EnterState {
  home: string;
  id: string;
  /** The live run while active. */
  activeRunId?: string;
  state: SessionRecord['state'];
  /** Only while idle. */
  laneDueAt?: Date;
  laneOvertakes?: number;
}

export async function enterState(tx: Tx, enter: EnterState): Promise<void> {
  const { home, id, state, activeRunId, laneDueAt, laneOvertakes } = enter;
  const rows = await tx`
    update foundation.sessions
       set state = ${state}, active_run_id = ${activeRunId ?? null}, lane_due_at = ${laneDueAt ?? null},
           lane_overtakes = coalesce(${laneOvertakes ?? null}::integer, lane_overtakes), updated_at = hearth_now()
     where home = ${home} and id = ${id}
    returning id`;
  if (rows.length !== 1) throw new Error(`there is no session ${id}`);
}

export async function keepRuntimeState(
  tx: Tx,
  { home, id, ref }: { home: string; id: string; ref: string | null },
): Promise<void> {
  await tx`
    update foundation.sessions
       set runtime_state_ref = ${ref}
     where home = ${home} and id = ${id}`;
}

function sessionColumns(sql: Sql) {
  return sql`
    home, id, tenant, agent, state, runtime_id, runtime_version, runtime_state_ref, active_run_id,
    forked_from_session_id, lane_due_at, lane_overtakes`;
}
