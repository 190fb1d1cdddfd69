import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Database,
  isRetryableConflict,
  isUniqueViolation,
  openDatabase,
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

  it('turns a statement that failed work in a savepoint sends too late into an error: the transaction around it keeps nothing', async () => {
    await database.transact('late', async (tx) => {
      const leaked: Tx[] = [];
      const inner = tx.savepoint(async (nested) => {
        leaked.push(nested);
        await nested`select 1 / 0`;
      });
      expect(String(await caught(inner))).toMatch(/division by zero/);
      expect(() => leaked.map((late) => late`insert into notes (id) values (31)`)).toThrow(/after its transaction had/);
    });
    expect(await database.sql`select 1 from notes where id = 31`).toEqual([]);
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

  it('begins a transaction behind as many reads as one connection takes at once', async () => {
    const narrow = openTestDatabase(test.target, 1);
    await narrow.sql`select 1`;
    for (let count = 98; count <= 103; count += 1) {
      const reads = Promise.all(Array.from({ length: count }, (_, n) => narrow.sql`select ${n}::int as n`));
      // They are sent once the caller has turned to something else.
      await Promise.resolve();
      await Promise.resolve();
      const insert = narrow.transact('behind', (tx) => tx`insert into notes (id) values (${count}) returning id`);
      expect(await insert).toEqual([{ id: count }]);
      expect(await reads).toEqual(Array.from({ length: count }, (_, n) => [{ n }]));
      // Seen from outside, so it was committed.
      expect(await database.sql`select id from notes where id = ${count}`).toEqual([{ id: count }]);
    }
    await narrow.close();
  });

  it('is reached over a socket by a URL, in each of the forms that name one; another text is refused in words', async () => {
    if (test.target.kind !== 'socket') throw new Error('the tests run on a socket');
    const { directory, user, database: name } = test.target;
    const urls = [
      `postgres://${user}@localhost/${name}?host=${directory}`,
      `postgres://${user}@${encodeURIComponent(directory)}:5432/${name}`,
      `postgresql:///${name}?host=${encodeURIComponent(directory)}&user=${user}`,
    ];
    const open = (url: string) =>
      openDatabase({ target: { kind: 'url', url }, applicationName: 'url', maxConnections: 1, clock, log });
    for (const url of urls) {
      const opened = open(url);
      const [row] = await opened.sql`select current_database() as name`;
      expect([url, row]).toEqual([url, { name }]);
      await opened.close();
    }
    expect(() => open(`postgres://${user}@/${name}?host=${directory}`)).toThrow(/^The database URL cannot be read/);
  });

  it('knows the patched client from one that lacks any of the fixes', () => {
    const fixes = [
      'function nextWrite(fn) {\n    if (!socket) {\n return',
      'return fetchArrayTypes().catch(() => undefined)',
      'if (lost)\n          return q.reject(lost)',
    ];
    expect(isPatched(fixes.join('\n'))).toBe(true);
    for (const fix of fixes) expect(isPatched(fixes.filter((other) => other !== fix).join('\n'))).toBe(false);
  });
});

async function lockBoth(tx: Tx, [first = 0, second = 0]: number[]): Promise<void> {
  await tx`select 1 from notes where id = ${first} for update`;
  await clock.sleep(100);
  await tx`select 1 from notes where id = ${second} for update`;
}
