import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dumpSchema } from '../../src/platform/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

describe('the schema', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  it('is the golden one in migrations/schema.sql; "npm run schema" writes it anew', async () => {
    await expect(await dumpSchema(test.database.sql)).toMatchFileSnapshot('../../migrations/schema.sql');
  });

  it('has a comment on every table', async () => {
    const silent = await test.database.sql`
      select n.nspname || '.' || c.relname as name
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p')
         and not c.relispartition
         and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
         and obj_description(c.oid, 'pg_class') is null`;
    expect(silent).toEqual([]);
  });
});
