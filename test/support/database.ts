// A fresh, migrated database for one test file, copied from a template that the first caller makes.
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { inject } from 'vitest';
import {
  createLog,
  type Database,
  type DatabaseTarget,
  type Log,
  migrate,
  openDatabase,
  systemClock,
  systemRandom,
} from '../../src/platform/index.js';

export const migrationsDirectory = fileURLToPath(new URL('../../migrations', import.meta.url));

export interface TestDatabase {
  database: Database;
  target: DatabaseTarget;
  /** Closes the database and removes it. */
  drop(): Promise<void>;
}

const template = 'hearth_template';
const templateLock = 7_420_003;

export function testLog(): Log {
  return createLog({ level: 'silent' });
}

/** A database with the schema of the domain; `empty` leaves the schema out. */
export async function createTestDatabase(
  options: { empty?: boolean; maxConnections?: number } = {},
): Promise<TestDatabase> {
  const name = `test_${Buffer.from(systemRandom().bytes(16)).toString('hex')}`;
  await withAdmin(async (admin) => {
    if (options.empty) return admin`create database ${admin(name)}`;
    await makeTemplate(admin);
    return admin`create database ${admin(name)} template ${admin(template)}`;
  });
  const target = targetOf(name);
  const database = openTestDatabase(target, options.maxConnections ?? 8);
  return {
    database,
    target,
    async drop() {
      await database.close();
      await withAdmin((admin) => admin`drop database ${admin(name)} with (force)`);
    },
  };
}

/** Another client of the same database, as another process would be. */
export function openTestDatabase(target: DatabaseTarget, maxConnections = 4, transactionMs = 20_000): Database {
  return openDatabase({
    target,
    applicationName: 'hearth test',
    maxConnections,
    transactionMs,
    clock: systemClock(),
    log: testLog(),
  });
}

async function makeTemplate(admin: postgres.Sql): Promise<void> {
  const found = await admin`select 1 from pg_database where datname = ${template}`;
  if (found.length > 0) return;
  const half = `${template}_half`;
  await admin`drop database if exists ${admin(half)} with (force)`;
  await admin`create database ${admin(half)}`;
  const database = openTestDatabase(targetOf(half), 1);
  try {
    await migrate(database, migrationsDirectory);
  } finally {
    await database.close();
  }
  await admin`alter database ${admin(half)} rename to ${admin(template)}`;
}

/** Test files run in several processes; the template is made, and copied, by one at a time. */
async function withAdmin(work: (admin: postgres.Sql) => Promise<unknown>): Promise<void> {
  const admin = postgres({
    ...connectionOf(targetOf('postgres')),
    max: 1,
    max_lifetime: null,
    onnotice: () => undefined,
  });
  try {
    await admin`select pg_advisory_lock(${templateLock})`;
    await work(admin);
  } finally {
    await admin.end({ timeout: 5 });
  }
}

function targetOf(database: string): DatabaseTarget & { kind: 'socket' } {
  const target = inject('testPostgres');
  if (target.kind !== 'socket') throw new Error('the test database is an embedded one');
  return { ...target, database };
}

function connectionOf(target: DatabaseTarget & { kind: 'socket' }) {
  return { host: target.directory, port: 5432, user: target.user, database: target.database, pass: '' };
}
