// Who owns a running cluster: the process that holds one advisory lock in it. Pids lie (reused, zombie, other namespace); this lock does not.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { superuser } from './postgres-cluster.js';
import type { PostgresPlace } from './postgres-place.js';

/** `shut`: nobody listens. `busy`: a server that starts or stops. `open`: it accepts connections. */
export type Door = 'shut' | 'busy' | 'open';

export interface Claim {
  taken: boolean;
  /** Who holds the lock, in words. */
  holder: string;
  /** The connection that asked; closed already when the lock was not to be had. */
  sql: postgres.Sql;
  release(): Promise<void>;
}

// Any number will do, as long as it never changes.
const ownershipLock = 7_420_001;

export async function tryDoor(place: PostgresPlace): Promise<Door> {
  const sql = connect(place, 'hearth probe');
  try {
    await sql`select 1`;
    return 'open';
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'shut';
    if (typeof code === 'string' && busyCodes.has(code)) return 'busy';
    throw error;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const busyCodes = new Set([
  '57P03',
  '57P01',
  '57P02',
  'CONNECTION_CLOSED',
  'CONNECT_TIMEOUT',
  'ECONNRESET',
  'EPIPE',
  '53300',
]);

/** `onLost` runs when the connection that holds the lock ends without having been released. */
export async function claimOwnership(place: PostgresPlace, onLost: () => void): Promise<Claim> {
  let ours = false;
  const sql = connect(place, `hearth owner, process ${process.pid}`, () => {
    if (ours) onLost();
    ours = false;
  });
  const [lock] = await sql<{ taken: boolean }[]>`select pg_try_advisory_lock(${ownershipLock}) as taken`;
  if (lock?.taken) {
    ours = true;
    return { taken: true, holder: 'this process', sql, release };
  }
  const [holder] = await sql<{ name: string }[]>`
    select a.application_name as name
      from pg_locks l
      join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory'
       and l.objid = ${ownershipLock}
       and l.granted
     limit 1`;
  await release();
  return { taken: false, holder: holder?.name ?? 'another process', sql, release };

  function release(): Promise<void> {
    ours = false;
    return sql.end({ timeout: 1 });
  }
}

/** The pid of the server that answers on our socket, if its own file and its own word agree; never a guess. */
export async function pidOfServer(place: PostgresPlace, sql: postgres.Sql): Promise<number | undefined> {
  const [server] = await sql<{ started: string }[]>`
    select extract(epoch from pg_postmaster_start_time())::bigint as started`;
  const file = readPidFile(place);
  if (!file || !server || Math.abs(file.startedS - Number(server.started)) > 5) return undefined;
  return file.pid;
}

export function readPidFile(place: PostgresPlace): { pid: number; startedS: number } | undefined {
  try {
    const [pid, , started] = readFileSync(join(place.data, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(pid), startedS: Number(started) };
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return undefined;
    throw error;
  }
}

export async function createDatabaseIfMissing(sql: postgres.Sql, name: string): Promise<void> {
  const found = await sql`select 1 from pg_database where datname = ${name}`;
  if (found.length === 0) await sql`create database ${sql(name)}`;
}

function connect(place: PostgresPlace, applicationName: string, onclose?: () => void): postgres.Sql {
  return postgres({
    host: place.socketDirectory,
    port: 5432,
    user: superuser,
    database: 'postgres',
    pass: '',
    max: 1,
    // The lock lives as long as the connection, so nothing may recycle it.
    max_lifetime: null,
    connect_timeout: 5,
    fetch_types: false,
    onnotice: () => undefined,
    connection: { application_name: applicationName },
    ...(onclose ? { onclose } : {}),
  });
}
