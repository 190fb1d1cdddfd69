import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { appendRunEvents, readRunEvents } from '../../../src/foundation/index.js';
import type { Database } from '../../../src/platform/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';

let databases: TestDatabase;
let database: Database;
let runId: string;
let runs = 0;
const home = 'abcdefghijkl';

beforeAll(async () => {
  databases = await createTestDatabase({ maxConnections: 10 });
  database = databases.database;
});
afterAll(() => databases.drop());
beforeEach(async () => {
  runs += 1;
  runId = `run_${home}_${String(runs).padStart(26, '0')}`;
  await database.sql`
    insert into foundation.runs (
      home, id, tenant, session_id, status, activation_candidate_id, runtime_id, runtime_version, input_log_cursor)
    values (${home}, ${runId}, 'default', 'ses', 'queued', 'cand', 'scripted', '1', 0)`;
});

const append = (...types: string[]) =>
  database.transact('append', (tx) =>
    appendRunEvents(tx, {
      home,
      runId,
      events: types.map((type) => ({ type, data: { camelCase: 1, snake_case: [null] } })),
    }),
  );

test('F11: events are numbered from 1 in the order given and read back as written', async () => {
  await append('a', 'b');
  await append('c');
  await append();
  const page = await readRunEvents(database.sql, runId, { after: 0, limit: 10 });
  expect(page).toMatchObject({ kind: 'page', cursor: 3, ended: false });
  expect(page.kind === 'page' && page.events.map(({ seq, type, data }) => [seq, type, data])).toEqual(
    ['a', 'b', 'c'].map((type, index) => [index + 1, type, { camelCase: 1, snake_case: [null] }]),
  );
});

test('F11: writers at once leave no hole, a rolled back one neither, and a reader by cursor loses and repeats nothing', async () => {
  const writers = Array.from({ length: 40 }, (_, index) =>
    database.transact('append', async (tx) => {
      await appendRunEvents(tx, { home, runId, events: [{ type: `w${index}`, data: {} }] });
      if (index % 4 === 0) throw new Error('rolled back');
    }),
  );
  const done = Promise.allSettled(writers);
  const seen: number[] = [];
  while (seen.length < 30) {
    const page = await readRunEvents(database.sql, runId, { after: seen.at(-1) ?? 0, limit: 7 });
    if (page.kind === 'page') seen.push(...page.events.map((event) => event.seq));
  }
  await done;
  expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
});

test('F11: a cursor beyond the end, one before what is kept, and a run that is not there are told apart', async () => {
  await append('a', 'b', 'c');
  expect(await readRunEvents(database.sql, runId, { after: 4, limit: 10 })).toEqual({ kind: 'cursor_ahead', last: 3 });
  expect(await readRunEvents(database.sql, runId, { after: 3, limit: 10 })).toMatchObject({ kind: 'page', cursor: 3 });
  await database.sql`delete from foundation.run_events where run_id = ${runId} and seq = 1`;
  expect(await readRunEvents(database.sql, runId, { after: 0, limit: 10 })).toEqual({ kind: 'cursor_gap', oldest: 1 });
  const other = `run_${home}_${'9'.padStart(26, '0')}`;
  expect(await readRunEvents(database.sql, other, { after: 0, limit: 1 })).toEqual({ kind: 'not_found' });
  expect(await readRunEvents(database.sql, 'nonsense', { after: 0, limit: 1 })).toEqual({ kind: 'not_found' });
});

test('a page says that it is the last only when the run has ended and nothing comes after it', async () => {
  await append('a', 'b');
  await database.sql`update foundation.runs set status = 'completed', ended_at = hearth_now() where id = ${runId}`;
  expect(await readRunEvents(database.sql, runId, { after: 0, limit: 1 })).toMatchObject({ ended: false, cursor: 1 });
  expect(await readRunEvents(database.sql, runId, { after: 1, limit: 1 })).toMatchObject({ ended: true, cursor: 2 });
  expect(await readRunEvents(database.sql, runId, { after: 2, limit: 1 })).toMatchObject({ ended: true, events: [] });
});

test('there is no appending to a run that does not exist', async () => {
  runId = `run_${home}_${'8'.padStart(26, '0')}`;
  await expect(append('a')).rejects.toThrow(/no such run/);
});
