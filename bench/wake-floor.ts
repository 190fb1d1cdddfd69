/**
 * The floor of a wake-up: a row is written and announced, a listener claims it; two commits, those that come at the same time
 * shared, and nothing else: no decision, no session, no run, no event.
 */
import { randomUUID } from 'node:crypto';
import { systemClock } from '../src/platform/index.js';
import { type BenchDatabase, openBenchDatabase } from './bench-database.js';
import { shareCommits } from './group-commit.js';
import { serve } from './node-process.js';

let store: BenchDatabase | undefined;
const waiting = new Map<string, () => void>();

function database() {
  if (!store) throw new Error('not started');
  return store.database;
}

async function start({ dataDirectory }: { dataDirectory: string }): Promise<void> {
  store = await openBenchDatabase(dataDirectory, systemClock());
  await database().sql`create table wakes (id text primary key, body text not null, claimed_at timestamptz)`;
  await database().listen('wakes', () => void claim(undefined));
}

const insert = shareCommits(async (ids: string[]) => {
  await database().transact('insert', async (tx) => {
    await tx`insert into wakes ${tx(ids.map((id) => ({ id, body: 'x'.repeat(500) })))}`;
  });
  await database().sql`select pg_notify('wakes', '')`;
  return ids;
});

const claim = shareCommits(async (asked: undefined[]) => {
  const rows = await database().transact(
    'claim',
    (tx) => tx<{ id: string }[]>`
      update wakes set claimed_at = hearth_now()
       where id in (select id from wakes where claimed_at is null limit 100 for update skip locked) returning id`,
  );
  for (const { id } of rows) {
    waiting.get(id)?.();
    waiting.delete(id);
  }
  return asked;
});

async function activations({ workers, count }: { workers: number; count: number }) {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  let left = count;
  async function work(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const beganMs = performance.now();
      const id = randomUUID();
      const claimed = new Promise<void>((resolve) => waiting.set(id, resolve));
      await insert(id);
      await claimed;
      latenciesMs.push(performance.now() - beganMs);
    }
  }
  await Promise.all(Array.from({ length: workers }, work));
  return { latenciesMs, tookMs: performance.now() - startMs };
}

serve({
  start,
  activations,
  async stop() {
    await store?.close();
  },
});
