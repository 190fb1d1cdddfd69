import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Database,
  type EmbeddedPostgres,
  isConnectionLost,
  isRetryableConflict,
  isUniqueViolation,
  openDatabase,
  startEmbeddedPostgres,
  systemClock,
  type Tx,
} from '../../src/platform/index.js';
import { isPatched } from '../../src/platform/postgres-patch.js';
import { createTestDatabase, openTestDatabase, type TestDatabase, testLog } from '../support/database.js';

const clock = systemClock();
const log = testLog();

function caught(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('the database', () => {
  let test: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    test = await createTestDatabase({ empty: true });
    database = test.database;
    await database.transact('setup', async (tx) => {
      await tx`create table notes (id int primary key, big_one bigint, some_json jsonb, raw_bytes bytea, at_time timestamptz, tag_list text[])`;
    });
  });
  afterAll(() => test.drop());

  it('gives camelCase columns, safe numbers, dates, bytes and arrays; the keys inside jsonb keep their names', async () => {
    const at = new Date('2026-01-02T03:04:05.678Z');
    await database.transact('write', async (tx) => {
      await tx`insert into notes ${tx([{ id: 1, bigOne: 2 ** 53 - 1, someJson: tx.json({ snake_key: [1] }), rawBytes: new Uint8Array([0, 255]), atTime: at, tagList: ['a', 'b,"c'] }])}`;
    });
    const [row] = await database.sql`select * from notes where id = 1`;
    expect(row).toEqual({
      id: 1,
      bigOne: 2 ** 53 - 1,
      someJson: { snake_key: [1] },
      rawBytes: Buffer.from([0, 255]),
      atTime: at,
      tagList: ['a', 'b,"c'],
    });
  });

  it('refuses a bigint that would lose digits', async () => {
    const error = await caught(database.sql`select 9007199254740993::bigint as n`);
    expect(String(error)).toMatch(/9007199254740993 does not fit/);
    expect(await database.sql`select 1 as fine`).toEqual([{ fine: 1 }]);
  });

  it('commits all or nothing, and hands an array through as it is', async () => {
    const failed = database.transact('fail', async (tx) => {
      await tx`insert into notes (id) values (10)`;
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await database.sql`select 1 from notes where id = 10`).toEqual([]);
    expect(await database.transact('array', async () => [1, 2])).toEqual([1, 2]);
  });

  it('undoes a savepoint alone', async () => {
    await database.transact('savepoint', async (tx) => {
      await tx`insert into notes (id) values (20)`;
      const inner = tx.savepoint(async (nested) => {
        await nested`insert into notes (id) values (21)`;
        await nested`insert into notes (id) values (20)`;
      });
      expect(isUniqueViolation(await caught(inner), 'notes_pkey')).toBe(true);
      await tx`insert into notes (id) values (22)`;
    });
    expect(await database.sql`select id from notes where id between 20 and 29 order by id`).toEqual([
      { id: 20 },
      { id: 22 },
    ]);
  });

  it('turns a statement sent after its transaction into an error instead of a commit of its own', async () => {
    const leaked: Tx[] = [];
    await database.transact('leak', async (tx) => leaked.push(tx));
    expect(() => leaked.map((tx) => tx`insert into notes (id) values (30)`)).toThrow(/after its transaction had ended/);
    expect(await database.sql`select 1 from notes where id = 30`).toEqual([]);
  });

  it('ends a hanging transaction at its deadline, rolled back, and the connection serves on', async () => {
    const short = openDatabase({
      target: test.target,
      applicationName: 'short',
      maxConnections: 1,
      clock,
      log,
      transactionMs: 200,
    });
    const hanging = short.transact('hang', async (tx) => {
      await tx`insert into notes (id) values (40)`;
      await clock.sleep(60_000);
    });
    await expect(hanging).rejects.toThrow(/transaction hang took longer than 200 ms/);
    const stuck = await caught(short.transact('stuck', (tx) => tx`select pg_sleep(60)`));
    expect(stuck).toBeInstanceOf(Error);
    expect(await short.sql`select count(*) as kept from notes where id = 40`).toEqual([{ kept: 0 }]);
    const longer = await short.transact('longer', (tx) => tx`select 1 as done from pg_sleep(0.4)`, {
      timeoutMs: 5_000,
    });
    expect(longer).toEqual([{ done: 1 }]);
    await short.close();
  });

  it('tells conflicts that ask for another try', async () => {
    const [one, two] = [openTestDatabase(test.target), openTestDatabase(test.target)];
    await database.sql`insert into notes (id) values (50), (51)`;
    const crossing = await Promise.allSettled([
      one.transact('one', (tx) => lockBoth(tx, [50, 51])),
      two.transact('two', (tx) => lockBoth(tx, [51, 50])),
    ]);
    const failed = crossing.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(failed.map((error) => isRetryableConflict(error))).toEqual([true]);
    await Promise.all([one.close(), two.close()]);
  });

  it('moves hearth_now() by the dial that tests may set', async () => {
    const dialled = openDatabase({
      target: test.target,
      applicationName: 'dial',
      maxConnections: 1,
      clock,
      log,
      clockOffsetMs: 3_600_000,
    });
    expect(await dialled.sql`select current_setting('hearth.clock_offset_ms') as dial`).toEqual([{ dial: '3600000' }]);
    await dialled.close();
  });

  it('knows the patch that keeps the process alive from its absence', () => {
    expect(isPatched('function nextWrite(fn) {\n    if (!socket) {\n return')).toBe(true);
    expect(isPatched('function nextWrite(fn) {\n    const x = socket.write(chunk, fn)')).toBe(false);
  });
});

async function lockBoth(tx: Tx, [first = 0, second = 0]: number[]): Promise<void> {
  await tx`select 1 from notes where id = ${first} for update`;
  await clock.sleep(100);
  await tx`select 1 from notes where id = ${second} for update`;
}

describe('the death of the server', () => {
  let postgres: EmbeddedPostgres;
  let directory: string;
  let database: Database;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'hearth-death-'));
    // So that, as root, the server's own user may pass.
    chmodSync(directory, 0o711);
    postgres = await startEmbeddedPostgres({ dataDirectory: directory, clock, log });
    database = openDatabase({ target: postgres.target, applicationName: 'death', maxConnections: 6, clock, log });
  });
  afterEach(async () => {
    await database.close();
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('inside transactions rejects every one of them; the process lives and the restarted server has what was acknowledged', async () => {
    await database.transact('setup', (tx) => tx`create table acks (id serial primary key)`);
    const acknowledged = new Set<number>();
    for (let round = 0; round < 3; round += 1) {
      const working = Array.from({ length: 6 }, () => insertUntilLost(database, acknowledged));
      while (acknowledged.size < (round + 1) * 50) await clock.sleep(2);
      process.kill(postgres.pid() ?? 0, 'SIGKILL');
      const errors = await Promise.all(working);
      expect(errors.filter((error) => !isConnectionLost(error))).toEqual([]);
      await untilServed(database);
    }
    const rows = await database.sql<{ id: number }[]>`select id from acks`;
    const kept = new Set(rows.map(({ id }) => id));
    expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([]);
  });

  it('leaves a listener that hears again after the restart', async () => {
    const heard: string[] = [];
    let listens = 0;
    await database.listen(
      'news',
      (payload) => void heard.push(payload),
      () => {
        listens += 1;
      },
    );
    process.kill(postgres.pid() ?? 0, 'SIGKILL');
    await untilServed(database);
    while (listens < 2) await clock.sleep(10);
    await database.sql`select pg_notify('news', 'again')`;
    while (heard.length === 0) await clock.sleep(5);
    expect(heard).toEqual(['again']);
  });
});

async function insertUntilLost(database: Database, acknowledged: Set<number>): Promise<unknown> {
  for (;;) {
    try {
      const rows = await database.transact(
        'insert',
        (tx) => tx<{ id: number }[]>`insert into acks default values returning id`,
      );
      for (const { id } of rows) acknowledged.add(id);
    } catch (error) {
      return error;
    }
  }
}

async function untilServed(database: Database): Promise<void> {
  for (;;) {
    const error = await caught(database.sql`select 1`);
    if (error === undefined) return;
    if (!isConnectionLost(error)) throw error;
    await clock.sleep(20);
  }
}
