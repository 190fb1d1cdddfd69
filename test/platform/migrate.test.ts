import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../../src/platform/index.js';
import { createTestDatabase, migrationsDirectory, openTestDatabase, type TestDatabase } from '../support/database.js';

describe('migrations', () => {
  let test: TestDatabase;
  let directory: string;

  beforeEach(async () => {
    test = await createTestDatabase({ empty: true });
    directory = mkdtempSync(join(tmpdir(), 'hearth-migrations-'));
    writeFileSync(
      join(directory, '0001_one.sql'),
      'create table one (id int primary key); insert into one values (1);',
    );
    writeFileSync(join(directory, '0002_two.sql'), 'create table two (id int primary key);');
  });

  afterEach(async () => {
    await test.drop();
    rmSync(directory, { recursive: true });
  });

  it('are applied once, in order, and a second start applies nothing', async () => {
    expect(await migrate(test.database, directory)).toEqual({ applied: ['0001_one.sql', '0002_two.sql'] });
    expect(await migrate(test.database, directory)).toEqual({ applied: [] });
  });

  it('are applied once by many starters at the same time', async () => {
    const others = [1, 2, 3, 4].map(() => openTestDatabase(test.target, 2));
    const results = await Promise.all(others.map((database) => migrate(database, directory)));
    expect(results.flatMap(({ applied }) => applied).sort()).toEqual(['0001_one.sql', '0002_two.sql']);
    expect(await test.database.sql`select id from one`).toEqual([{ id: 1 }]);
    await Promise.all(others.map((database) => database.close()));
  });

  it('refuse a file that changed after it was applied, in words', async () => {
    await migrate(test.database, directory);
    writeFileSync(join(directory, '0001_one.sql'), 'create table one (id bigint primary key);');
    await expect(migrate(test.database, directory)).rejects.toThrow(
      /0001_one\.sql was changed after it had been applied/,
    );
  });

  it('roll a bad file back whole and keep those before it', async () => {
    writeFileSync(join(directory, '0002_two.sql'), 'create table two (id int); select * from nowhere;');
    await expect(migrate(test.database, directory)).rejects.toThrow(
      /0002_two\.sql failed and was rolled back.*nowhere/,
    );
    expect(
      await test.database.sql`select to_regclass('one') is not null as one, to_regclass('two') is not null as two`,
    ).toEqual([{ one: true, two: false }]);
  });

  it('refuse a database that a newer version has migrated', async () => {
    const newer = mkdtempSync(join(tmpdir(), 'hearth-migrations-'));
    cpSync(directory, newer, { recursive: true });
    writeFileSync(join(newer, '0003_three.sql'), 'create table three (id int);');
    await migrate(test.database, newer);
    await expect(migrate(test.database, directory)).rejects.toThrow(/migrated by a newer version/);
    rmSync(newer, { recursive: true });
  });

  it('refuse a gap in the numbering', async () => {
    writeFileSync(join(directory, '0004_four.sql'), 'select 1;');
    await expect(migrate(test.database, directory)).rejects.toThrow(/0003 is expected/);
  });

  it('of the domain apply to an empty database', async () => {
    const { applied } = await migrate(test.database, migrationsDirectory);
    expect(applied[0]).toBe('0001_clock.sql');
  });

  it('of the domain keep the answers of an earlier version word for word', async () => {
    rmSync(directory, { recursive: true });
    const earlier = (name: string) => /^000[1-5]_|^[^0-9]*$/.test(basename(name));
    cpSync(migrationsDirectory, directory, { recursive: true, filter: earlier });
    await migrate(test.database, directory);
    const answer = '{"results":[],"receipt":"é\\\\n€"}';
    await test.database.sql`
      insert into federation.inbound_transactions (peer, transaction_id, body_digest, results, answer)
      values ('alpha.test', 'txn_1', '', '[]', ${Buffer.from(answer)}), ('alpha.test', 'txn_2', '', null, null)`;
    await migrate(test.database, migrationsDirectory);
    expect(await test.database.sql`select answer from federation.inbound_transactions order by transaction_id`).toEqual(
      [{ answer }, { answer: null }],
    );
  });
});
