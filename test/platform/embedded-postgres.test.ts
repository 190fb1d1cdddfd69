import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Database,
  type EmbeddedPostgres,
  openDatabase,
  startEmbeddedPostgres,
  systemClock,
} from '../../src/platform/index.js';
import { preparePostgresBinaries } from '../../src/platform/postgres-binaries.js';
import { spawnPostmaster } from '../../src/platform/postgres-cluster.js';
import { tryDoor } from '../../src/platform/postgres-ownership.js';
import { placePostgres } from '../../src/platform/postgres-place.js';
import { testLog } from '../support/database.js';
import { startSupervisorProcess } from '../support/supervisor-process.js';

const clock = systemClock();
const log = testLog();
const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === 'linux';

describe('the embedded PostgreSQL', () => {
  let base: string;
  let dataDirectory: string;
  const running: EmbeddedPostgres[] = [];

  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'hearth-pg-'));
    chmodSync(base, 0o711);
    dataDirectory = join(base, 'data');
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
    rmSync(base, { recursive: true, force: true });
  });

  async function start(directory = dataDirectory): Promise<EmbeddedPostgres> {
    const postgres = await startEmbeddedPostgres({ dataDirectory: directory, clock, log });
    running.push(postgres);
    return postgres;
  }

  async function query<T>(postgres: EmbeddedPostgres, work: (database: Database) => Promise<T>): Promise<T> {
    const database = openDatabase({ target: postgres.target, applicationName: 'test', maxConnections: 2, clock, log });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  it('keeps what was written over a stop and a second start, behind closed directories', async () => {
    const first = await start();
    await query(first, ({ sql }) => sql`create table kept (id int)`);
    await first.stop();
    expect(first.pid()).toBeUndefined();
    mkdirSync(join(dataDirectory, 'postgres', 'pg.init.1'));
    const second = await start();
    expect(await query(second, ({ sql }) => sql`select count(*) as rows from kept`)).toEqual([{ rows: 0 }]);
    expect(existsSync(join(dataDirectory, 'postgres', 'pg.init.1'))).toBe(false);
    for (const part of ['', 'run', 'data']) expect(statSync(join(second.directory, part)).mode & 0o777).toBe(0o700);
    expect(
      await query(
        second,
        ({ sql }) => sql`select current_setting('fsync') as fsync, current_setting('listen_addresses') as tcp`,
      ),
    ).toEqual([{ fsync: 'on', tcp: '' }]);
  });

  it('refuses a second living owner in words, and the first serves on', async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(
      `The data directory is in use: hearth owner, process ${process.pid} runs the database in ${first.directory}`,
    );
    expect(await query(first, ({ sql }) => sql`select 1 as fine`)).toEqual([{ fine: 1 }]);
  });

  it('lets one of two first starts at the same time win', async () => {
    const results = await Promise.allSettled([start(), start()]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const [winner] = running;
    expect(winner && (await query(winner, ({ sql }) => sql`select 1 as fine`))).toEqual([{ fine: 1 }]);
  });

  it('comes back by itself whenever its server is killed', async () => {
    const postgres = await start();
    for (let round = 0; round < 2; round += 1) {
      const killed = postgres.pid() ?? 0;
      process.kill(killed, 'SIGKILL');
      while (postgres.pid() === undefined || postgres.pid() === killed) await clock.sleep(10);
      expect(await query(postgres, ({ sql }) => sql`select 1 as fine`)).toEqual([{ fine: 1 }]);
      await expect(start()).rejects.toThrow(/in use/);
    }
  });

  it('stays owned when only the connection that shows it is cut', async () => {
    const postgres = await start();
    const owners = () =>
      query(postgres, ({ sql }) => sql`select pid from pg_stat_activity where application_name like 'hearth owner%'`);
    const before = await owners();
    await query(
      postgres,
      ({ sql }) => sql`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'hearth owner%'`,
    );
    for (let now = await owners(); now.length === 0 || now[0]?.pid === before[0]?.pid; now = await owners())
      await clock.sleep(20);
    await expect(start()).rejects.toThrow(/in use/);
  });

  it('stops an orphan that still serves, then starts its own', async () => {
    await (await start()).stop();
    const place = placePostgres(dataDirectory);
    const orphan = spawnPostmaster(place, preparePostgresBinaries(place.binariesCache, place.user));
    while ((await tryDoor(place)) !== 'open') await clock.sleep(20);
    const postgres = await start();
    expect(orphan.exitCode).toBe(0);
    expect(postgres.pid()).not.toBe(orphan.pid);
  });

  it('takes a path that is too long for a socket', async () => {
    const postgres = await start(join(base, 'deep'.repeat(30)));
    expect(postgres.target).toMatchObject({ directory: expect.stringMatching(/^\/tmp\/hearth-\d+-[0-9a-f]{16}$/) });
    expect(await query(postgres, ({ sql }) => sql`select 1 as fine`)).toEqual([{ fine: 1 }]);
    await running.pop()?.stop();
    if (postgres.target.kind === 'socket') rmSync(postgres.target.directory, { recursive: true });
  });

  it.runIf(isLinux)('has a session of its own, so that Ctrl-C reaches us first', async () => {
    const pid = (await start()).pid();
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ');
    expect(fields?.[3]).toBe(`${pid}`);
  });

  it('starts unaided after kill -9 of the process and of its server', async () => {
    for (let round = 0; round < 2; round += 1) {
      const { child, started, ended } = startSupervisorProcess(dataDirectory);
      const server = await started;
      child.kill('SIGKILL');
      process.kill(server, 'SIGKILL');
      await ended;
    }
    await start();
  });

  it('goes down cleanly with a process that is killed, and the next start works', async () => {
    const { child, started, ended } = startSupervisorProcess(dataDirectory);
    await started;
    child.kill('SIGKILL');
    await ended;
    const postgres = await start();
    expect(await query(postgres, ({ sql }) => sql`select 1 as fine`)).toEqual([{ fine: 1 }]);
    const text = readFileSync(join(postgres.directory, 'postgres.log'), 'utf8');
    expect(text).toContain('database system is shut down');
    expect(text).not.toContain('not properly shut down');
  });

  it.runIf(isRoot)('as root lies where its user can reach it, and says where', async () => {
    const closed = join(base, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const postgres = await start(join(closed, 'data'));
    expect(postgres.directory).toMatch(/^\/var\/lib\/hearth\/data-\w{6}$/);
    expect(readFileSync(join(closed, 'data', 'postgres.location'), 'utf8')).toBe(`${postgres.directory}\n`);
    await postgres.stop();
    expect((await start(join(closed, 'data'))).directory).toBe(postgres.directory);
    await running.pop()?.stop();
    rmSync(postgres.directory, { recursive: true });
  });

  it.runIf(isRoot && isLinux)('runs for an ordinary user, and root can take the same data over', async () => {
    const [uid, gid] = [65_534, 65_534];
    mkdirSync(dataDirectory, { mode: 0o700 });
    for (const path of [base, dataDirectory]) chownSync(path, uid, gid);
    const { child, started, ended } = startSupervisorProcess(dataDirectory, { uid, gid });
    expect(statSync(`/proc/${await started}`).uid).toBe(uid);
    child.kill('SIGTERM');
    await ended;
    const postgres = await start();
    expect(statSync(`/proc/${postgres.pid()}`).uid).toBe(uid);
  });

  it.runIf(isRoot && isLinux)('says what to do for a user that the system does not know', async () => {
    chownSync(base, 54_321, 54_321);
    const { started } = startSupervisorProcess(dataDirectory, { uid: 54_321, gid: 54_321 });
    await expect(started).rejects.toThrow(/user id 54321, which has no entry in \/etc\/passwd.*DATABASE_URL/);
  });

  it('names another major version instead of failing on it', async () => {
    const place = placePostgres(dataDirectory);
    mkdirSync(place.data);
    writeFileSync(join(place.data, 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toThrow(/was made by PostgreSQL 17 and this version of Hearth brings 18/);
  });
});
