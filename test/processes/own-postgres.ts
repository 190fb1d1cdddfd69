// A PostgreSQL with room for the connections of several domain processes, which the one of the whole test run has not.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, type DatabaseTarget, databaseAnswers, migrate, systemClock } from '../../src/platform/index.js';
import { preparePostgresBinaries } from '../../src/platform/postgres-binaries.js';
import { makeCluster, spawnPostmaster, superuser } from '../../src/platform/postgres-cluster.js';
import { placePostgres } from '../../src/platform/postgres-place.js';
import { migrationsDirectory, openTestDatabase } from '../support/database.js';

export interface OwnPostgres {
  /** Migrated. */
  database: Database;
  url: string;
  /** Every process of the server stands still until the answer is called. */
  freeze(): () => void;
  stop(): Promise<void>;
}

const clock = systemClock();
const startLimitMs = 20_000;
// What is killed here are processes of the domain, never the machine, so nothing has to reach the disk.
const roomy = ['max_connections=200', 'fsync=off', 'full_page_writes=off'];

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'hearth-own-'));
  chmodSync(directory, 0o711);
  const place = placePostgres(directory);
  const binaries = preparePostgresBinaries(place.binariesCache, place.user);
  await makeCluster(place, binaries);
  // The last of two settings counts.
  const postgres = join(place.root, 'roomy-postgres');
  const more = roomy.map((setting) => `-c ${setting}`).join(' ');
  writeFileSync(postgres, `#!/bin/sh\nexec '${binaries.postgres}' "$@" ${more}\n`);
  chmodSync(postgres, 0o755);
  const postmaster = spawnPostmaster(place, { ...binaries, postgres });
  const target: DatabaseTarget = {
    kind: 'socket',
    directory: place.socketDirectory,
    user: superuser,
    database: 'postgres',
  };
  const database = openTestDatabase(target);
  await untilAnswering(database);
  await migrate(database, migrationsDirectory);
  return {
    database,
    url: `postgres://${superuser}@localhost/postgres?host=${encodeURIComponent(place.socketDirectory)}`,
    freeze() {
      const { pid = 0 } = postmaster;
      // The postmaster first, so that it makes no more of them; each backend leads a process group of its own.
      process.kill(pid, 'SIGSTOP');
      const backends = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
      for (const backend of backends) process.kill(backend, 'SIGSTOP');
      return () => {
        for (const each of [...backends, pid]) process.kill(each, 'SIGCONT');
      };
    },
    async stop() {
      await database.close();
      const ended = new Promise((resolve) => postmaster.once('exit', resolve));
      postmaster.kill('SIGQUIT');
      await ended;
      for (const left of [place.root, directory]) rmSync(left, { recursive: true, force: true });
    },
  };
}

async function untilAnswering(database: Database): Promise<void> {
  const until = clock.monotonicMs() + startLimitMs;
  while (clock.monotonicMs() < until) {
    const answers = await databaseAnswers(database.sql).catch(() => false);
    if (answers) return;
    await clock.sleep(50);
  }
  throw new Error('the PostgreSQL of the test does not answer');
}
