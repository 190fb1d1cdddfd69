// Forward-only migrations: numbered SQL files, each applied once, in order, in its own transaction.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Tx } from './database.js';
import { isConnectionLost } from './database-error.js';
import { StartRefused } from './start-refused.js';

interface Migration {
  name: string;
  checksum: string;
  text: string;
}

interface AppliedMigration {
  name: string;
  checksum: string;
}

// Taken in every migration's transaction: of several starters one applies a file, the others then find it applied.
const migrationLock = 7_420_002;
const migrationMs = 600_000;

export async function migrate(database: Database, directory: string): Promise<{ applied: string[] }> {
  const migrations = readMigrations(directory);
  if (migrations.length === 0)
    throw new StartRefused(`There are no migrations in ${directory}; the installation is incomplete.`);
  const applied: string[] = [];
  await database.transact('prepare migrations', prepareTable, { timeoutMs: migrationMs });
  for (const [index, { name }] of migrations.entries()) {
    if (await applyOnce(database, migrations, index)) applied.push(name);
  }
  return { applied };
}

function readMigrations(directory: string): Migration[] {
  const names = readdirSync(directory)
    .filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort();
  for (const [index, name] of names.entries()) {
    if (Number(name.slice(0, 4)) !== index + 1) {
      throw new StartRefused(
        `Migration ${name} breaks the numbering: ${String(index + 1).padStart(4, '0')} is expected.`,
      );
    }
  }
  return names.map((name) => {
    const text = readFileSync(join(directory, name), 'utf8');
    return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
  });
}

async function prepareTable(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(${migrationLock})`;
  await tx`
    create table if not exists public.hearth_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default clock_timestamp()
    )`;
  await tx`comment on table public.hearth_migrations is 'Which migrations were applied, with the digest of each file.'`;
}

function applyOnce(database: Database, migrations: Migration[], index: number): Promise<boolean> {
  return database.transact(
    'migrate',
    async (tx) => {
      await tx`select pg_advisory_xact_lock(${migrationLock})`;
      const applied = await tx<AppliedMigration[]>`select name, checksum from public.hearth_migrations order by name`;
      refuseDrift(migrations, applied);
      const migration = migrations[index];
      if (!migration || applied.some(({ name }) => name === migration.name)) return false;
      await execute(tx, migration);
      await tx`insert into public.hearth_migrations (name, checksum) values (${migration.name}, ${migration.checksum})`;
      return true;
    },
    { timeoutMs: migrationMs },
  );
}

async function execute(tx: Tx, migration: Migration): Promise<void> {
  try {
    await tx.unsafe(migration.text);
  } catch (cause) {
    if (isConnectionLost(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StartRefused(`Migration ${migration.name} failed and was rolled back: ${why}.`, { cause });
  }
}

/** What was applied must be what stands at the front of the files, byte for byte. */
function refuseDrift(migrations: Migration[], applied: AppliedMigration[]): void {
  for (const [index, { name, checksum }] of applied.entries()) {
    const known = migrations[index];
    if (!known || (known.name !== name && !migrations.some((migration) => migration.name === name))) {
      throw new StartRefused(
        `The database was migrated by a newer version of Hearth (${name} is not known here). Run that version or a later one.`,
      );
    }
    if (known.name !== name) {
      throw new StartRefused(`The migration ${known.name} is missing in the database although ${name} was applied.`);
    }
    if (known.checksum !== checksum) {
      throw new StartRefused(
        `The migration ${name} was changed after it had been applied to this database. ` +
          'Restore the file as it was and put the change into a new migration.',
      );
    }
  }
}
