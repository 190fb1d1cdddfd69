// Several processes of one domain on one fresh database: to be killed, stopped, drained and started again each by itself.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sql, seededRandom, systemClock } from '../../src/platform/index.js';
import type { JsonObject } from '../../src/protocol/index.js';
import { freePort } from '../support/domain-child.js';
import { type DomainProcess, domainProcess } from './domain-process.js';
import { type OwnPostgres, startOwnPostgres } from './own-postgres.js';

export interface Cluster {
  processes: DomainProcess[];
  /** By place; throws for one that is not there. */
  at(index: number): DomainProcess;
  sql: Sql;
  /** One request that some process has to answer: tries them in turn until one does. */
  ask(method: string, path: string, body?: object): Promise<JsonObject>;
  /** The process that a host's name belongs to, in the start that it had the name in. */
  processOf(holder: string): Promise<DomainProcess>;
  databaseNow(): Promise<Date>;
  /** The clock of the database's machine is set to so much before or after what it was at the beginning. */
  stepDatabaseClock(ms: number): Promise<void>;
  /** The database stands still for all until the answer is called. */
  freezeDatabase(): () => void;
  close(): Promise<void>;
}

export interface StartCluster {
  size: number;
  effectOrigin: string;
  /** How far the wall clock of a process lies ahead, by its place. */
  wallClockMs?: Record<number, number>;
}

const clock = systemClock();
const askLimitMs = 30_000;

export async function startCluster({ size, effectOrigin, wallClockMs = {} }: StartCluster): Promise<Cluster> {
  const postgres = await startOwnPostgres();
  const directory = await mkdtemp(join(tmpdir(), 'hearth-processes-'));
  await noteHosts(postgres.database.sql);
  const processes: DomainProcess[] = [];
  for (let place = 0; place < size; place += 1) {
    const [federationPort, apiPort] = [await freePort(), await freePort()];
    processes.push(
      domainProcess({
        name: `p${place}`,
        dataDirectory: join(directory, `p${place}`),
        // All decrypt the same keys; the first makes the file.
        ...(place === 0 ? {} : { keyFile: join(directory, 'p0', 'keys', 'kek') }),
        databaseUrl: postgres.url,
        federationPort,
        apiPort,
        effectOrigin,
        wallClockMs: wallClockMs[place],
      }),
    );
  }
  const cluster = clusterOf({ postgres, directory, processes });
  try {
    const [first, ...others] = processes;
    await first?.start();
    await Promise.all(others.map((process) => process.start()));
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return cluster;
}

interface Parts {
  postgres: OwnPostgres;
  directory: string;
  processes: DomainProcess[];
}

function clusterOf({ postgres, directory, processes }: Parts): Cluster {
  const { sql } = postgres.database;
  const turns = seededRandom(7);

  const cluster: Cluster = {
    processes,
    sql,
    at(index) {
      const found = processes[index];
      if (!found) throw new Error(`there is no process ${index}`);
      return found;
    },
    async ask(method, path, body) {
      const until = clock.monotonicMs() + askLimitMs;
      while (clock.monotonicMs() < until) {
        const up = processes.filter((process) => process.isUp());
        const token = processes[0]?.operatorToken() ?? '';
        const process = up[Math.floor(turns.uniform(0, up.length))];
        const answer = await process?.request({ method, path, token, body }).catch(() => undefined);
        if (answer && answer.status < 400) return answer.body;
        if (answer && answer.status < 500) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
        await clock.sleep(20);
      }
      throw new Error(`${path}: no process answered`);
    },
    async processOf(holder) {
      const [row] = await sql<{ process: string }[]>`select process from public.test_hosts where holder = ${holder}`;
      const found = processes.find(({ name }) => name === row?.process.split('.')[0]);
      if (!found) throw new Error(`no process has been ${holder}`);
      return found;
    },
    async databaseNow() {
      const [row] = await sql<{ now: Date }[]>`select hearth_now() as now`;
      if (!row) throw new Error('the database has no time');
      return row.now;
    },
    async stepDatabaseClock(ms) {
      await sql.unsafe(`
        create or replace function hearth_now() returns timestamptz language sql stable parallel safe
        return statement_timestamp()
             + coalesce(nullif(current_setting('hearth.clock_offset_ms', true), '')::bigint, 0) * interval '1 millisecond'
             + interval '${ms} milliseconds'`);
    },
    freezeDatabase: () => postgres.freeze(),
    async close() {
      await Promise.all(processes.map((process) => process.kill()));
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return cluster;
}

/** Which process a host is stands in no table of the domain; its connections say it, and a trigger writes it down. */
async function noteHosts(sql: Sql): Promise<void> {
  await sql`create table public.test_hosts (holder text primary key, process text not null)`;
  await sql`
    create function public.note_host() returns trigger language plpgsql as $$
    begin
      insert into public.test_hosts values (new.holder, current_setting('application_name')) on conflict do nothing;
      return null;
    end $$`;
  await sql`
    create trigger note_host after update of holder on foundation.runs
    for each row when (new.holder is distinct from old.holder) execute function public.note_host()`;
}
