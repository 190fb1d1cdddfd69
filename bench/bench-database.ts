// A PostgreSQL of its own for one measured process, with the schema of a domain: the floor writes the same rows.
import { fileURLToPath } from 'node:url';
import {
  createLog,
  type Database,
  type FollowingClock,
  followDatabaseTime,
  migrate,
  openDatabase,
  startEmbeddedPostgres,
} from '../src/platform/index.js';

export interface BenchDatabase {
  database: Database;
  close(): Promise<void>;
  pid(): number | undefined;
}

const migrationsDirectory = fileURLToPath(new URL('../../migrations', import.meta.url));
const maxConnections = 24;

export async function openBenchDatabase(dataDirectory: string, clock: FollowingClock): Promise<BenchDatabase> {
  const log = createLog({ level: 'error' });
  const embedded = await startEmbeddedPostgres({ dataDirectory, clock, log });
  const { target } = embedded;
  const database = openDatabase({ target, applicationName: 'hearth bench', maxConnections, clock, log });
  await migrate(database, migrationsDirectory);
  await followDatabaseTime(database.sql, clock);
  return {
    database,
    pid: () => embedded.pid(),
    async close() {
      await database.close();
      await embedded.stop();
    },
  };
}
