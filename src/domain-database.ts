// Opens a domain's PostgreSQL, its own embedded one or the operator's, brings the schema up to date and follows its clock.
import { fileURLToPath } from 'node:url';
import type { Config } from './config.js';
import {
  type Database,
  type DatabaseTarget,
  databaseFault,
  type EmbeddedPostgres,
  type FollowingClock,
  followDatabaseTime,
  type Log,
  migrate,
  openDatabase,
  type Sql,
  StartRefused,
  startEmbeddedPostgres,
} from './platform/index.js';

export interface DomainDatabase {
  database: Database;
  /** In words, for the start page. */
  where: string;
  /** The postmaster, when it is ours. */
  postmasterPid(): number | undefined;
  /** Closes the connections, then stops the server, if it is ours, last. */
  close(): Promise<void>;
}

export interface OpenDomainDatabase {
  config: Pick<Config, 'databaseUrl' | 'dataDirectory' | 'clockOffsetMs'> & { domain: string };
  clock: FollowingClock;
  log: Log;
}

const migrationsDirectory = fileURLToPath(new URL('../migrations', import.meta.url));
const maxConnections = 24;
const followEveryMs = 15_000;

export async function openDomainDatabase({ config, clock, log }: OpenDomainDatabase): Promise<DomainDatabase> {
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbeddedPostgres({ dataDirectory: config.dataDirectory, clock, log })
      : undefined;
  const target: DatabaseTarget = embedded?.target ?? { kind: 'url', url: config.databaseUrl ?? '' };
  const database = openDatabase({
    target,
    applicationName: `hearth ${config.domain}`,
    maxConnections,
    clock,
    log,
    clockOffsetMs: config.clockOffsetMs,
  });
  const following = new AbortController();
  try {
    if (!embedded) await requireAnswer(database.sql);
    const { applied } = await migrate(database, migrationsDirectory);
    if (applied.length > 0) log.info({ applied }, 'the schema was brought up to date');
    await followDatabaseTime(database.sql, clock);
  } catch (error) {
    await closeAll(database, embedded);
    throw error;
  }
  const follow = keepFollowing({ database, clock, log, signal: following.signal });
  return {
    database,
    where: embedded ? `its own PostgreSQL in ${embedded.directory}` : 'the PostgreSQL of DATABASE_URL',
    postmasterPid: () => embedded?.pid(),
    async close() {
      following.abort();
      await follow;
      await closeAll(database, embedded);
    },
  };
}

async function closeAll(database: Database, embedded: EmbeddedPostgres | undefined): Promise<void> {
  await database.close();
  await embedded?.stop();
}

async function requireAnswer(sql: Sql): Promise<void> {
  const fault = await databaseFault(sql);
  if (fault === undefined) return;
  throw new StartRefused(
    `The database of DATABASE_URL does not answer (${fault}). Check the URL, the password and that the server runs; without DATABASE_URL the domain starts its own.`,
  );
}

interface KeepFollowing {
  database: Database;
  clock: FollowingClock;
  log: Log;
  signal: AbortSignal;
}

const noteworthyMs = 1_000;

/** A jump of either clock is noticed, said, and expires nothing early: leases are judged by the database alone. */
async function keepFollowing({ database, clock, log, signal }: KeepFollowing): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(followEveryMs, signal);
    if (signal.aborted) return;
    const driftMs = await followDatabaseTime(database.sql, clock).catch(() => undefined);
    if (driftMs !== undefined && Math.abs(driftMs) > noteworthyMs)
      log.warn({ driftMs }, 'the clock of the database has jumped');
  }
}
