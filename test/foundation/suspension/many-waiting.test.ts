// 100,000 waiting sessions: what an input, a replay, an expiry and a fact read does not grow with their number.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  isAwaited,
  listeningSubscriptions,
  type SuspensionRecord,
  selectDueSuspensions,
  selectLogMatches,
  selectUnreplayedSuspensions,
  waitingSubscriptions,
} from '../../../src/foundation/suspension/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { openFoundationWorld } from '../../support/foundation-world.js';

const waiting = 100_000;
let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 1 });
  const { sql } = test.database;
  await sql`
    insert into foundation.suspensions (
      home, id, tenant, session_id, run_id, reason, runtime_id, runtime_version, runtime_state_ref, input_log_cursor,
      resume_policy, status, replayed_at, due_at)
    select 'home' || n % 1000, 'sus_' || n, 'default', 'ses_' || n, 'run_' || n, 'waits', 'r', '1', 'x', 0,
           'first_match', 'open', hearth_now(), hearth_now() + interval '1 day'
      from generate_series(1, ${waiting}::integer) as n`;
  // A tenth of them wait for any subject of a type of their own, the rest for one subject of a common type or prefix.
  await sql`
    insert into foundation.subscriptions (home, id, tenant, owner, suspension_id, session_id, type, subject, status)
    select 'home' || n % 1000, 'sub_' || n, 'default', 'suspension', 'sus_' || n, 'ses_' || n,
           case when n % 10 = 0 then 'own.t' || n when n % 10 < 3 then 'bench.*' else 'bench.answer' end,
           case when n % 10 = 0 then null else 'order:' || n end, 'active'
      from generate_series(1, ${waiting}::integer) as n`;
  await sql`
    insert into foundation.input_log (tenant, position, home, input_id, type, subject)
    select 'default', n, 'door', 'in_' || n, 'bench.answer', 'order:' || n from generate_series(1, 50000) as n`;
  await sql`insert into foundation.input_log_heads values ('default', 50000, 50000)`;
  await sql`analyze foundation.suspensions`;
  await sql`analyze foundation.subscriptions`;
  await sql`analyze foundation.input_log`;
}, 120_000);
afterAll(() => test.drop());

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Node[];
}

/** Every scan of a table, with the rows that it has read: those it gave on and those it threw away. */
function scansOf(node: Node): { relation: string; sequential: boolean; rows: number }[] {
  const relation = node['Relation Name'];
  const thrown = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const rows = (node['Actual Rows'] + thrown) * node['Actual Loops'];
  const own = relation ? [{ relation, sequential: node['Node Type'] === 'Seq Scan', rows }] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scansOf)];
}

async function rowsRead(query: ReturnType<typeof waitingSubscriptions>): Promise<number> {
  const { sql } = test.database;
  const [row] = await sql<{ 'QUERY PLAN': [{ Plan: Node }] }[]>`explain (analyze, format json) ${query}`;
  const plan = Object.values(row ?? {})[0] as [{ Plan: Node }];
  const scans = scansOf(plan[0].Plan).filter(({ relation }) => ['suspensions', 'subscriptions'].includes(relation));
  expect(scans.length).toBeGreaterThan(0);
  expect(scans.filter(({ sequential, rows }) => sequential && rows > 0)).toEqual([]);
  return scans.reduce((sum, { rows }) => sum + rows, 0);
}

/** Rows of the tables of waits that the statements of some work have read, by the counters of the database itself. */
async function rowsReadBy(work: () => Promise<unknown>): Promise<number> {
  const { sql } = test.database;
  const count = async () => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<{ rows: number }[]>`
      select sum(seq_tup_read + idx_tup_fetch) as rows
        from pg_stat_user_tables
       where schemaname = 'foundation' and relname in ('suspensions', 'subscriptions', 'input_log')`;
    return Number(row?.rows);
  };
  const before = await count();
  await work();
  return (await count()) - before;
}

const by = (type: string, subject?: string) => ({ tenant: 'default', type, subject, receivedAt: new Date(0) });
const from = { after: { home: '', id: '' }, limit: 201 };

describe('F14: with 100,000 waiting sessions', () => {
  it('an input reads the subscriptions that it matches, and no others', async () => {
    const { sql } = test.database;
    expect(await rowsRead(waitingSubscriptions(sql, by('bench.answer', 'order:7'), from))).toBe(1);
    expect(await rowsRead(waitingSubscriptions(sql, by('bench.answer', 'order:none'), from))).toBe(0);
    expect(await rowsRead(waitingSubscriptions(sql, by('bench.answer'), from))).toBe(0);
    expect(await rowsRead(waitingSubscriptions(sql, by('own.t10', 'order:10'), from))).toBe(1);
    expect(await rowsRead(waitingSubscriptions(sql, by('a.b.c.d.e.f.g.h', 'order:7'), from))).toBe(0);
    expect(await rowsRead(listeningSubscriptions(sql, by('bench.answer', 'order:7'), from) as never)).toBe(0);
    expect(await waitingSubscriptions(sql, by('bench.answer', 'order:7'), from)).toMatchObject([
      { suspensionId: 'sus_7', owner: 'suspension' },
    ]);
  });

  it('also when the database plans for any parameters, as it does after a while', async () => {
    const { sql } = test.database;
    for (const mode of ['force_generic_plan', 'auto']) {
      await sql.unsafe(`set plan_cache_mode = ${mode}`);
      const read = await rowsReadBy(async () => {
        for (let n = 1; n <= 20; n += 1) await waitingSubscriptions(sql, by('bench.answer', `order:${n}`), from);
      });
      // Planning looks at the ends of an index.
      expect(read, mode).toBeLessThanOrEqual(5 * 20);
    }
  });

  it('a page of one input that concerns very many reads a page from each of its ranges', async () => {
    const { sql } = test.database;
    await sql`
      insert into foundation.subscriptions (home, id, tenant, owner, suspension_id, session_id, type, subject, status)
      select 'home' || n % 1000, 'subx_' || n, 'crowd', 'suspension', 'sus_' || n, 'ses_' || n, 'all.now', null, 'active'
        from generate_series(1, ${waiting}::integer) as n`;
    await sql`analyze foundation.subscriptions`;
    const crowd = { ...by('all.now', 'x'), tenant: 'crowd' };
    expect(await rowsRead(waitingSubscriptions(sql, crowd, from))).toBeLessThanOrEqual(2 * 201);
    const middle = { after: { home: 'home500', id: 'sus_5500' }, limit: 201 };
    expect(await rowsRead(waitingSubscriptions(sql, crowd, middle))).toBeLessThanOrEqual(2 * 201);
  });

  it('F25: whether anybody waits for a fact is a look at an index', async () => {
    const { sql } = test.database;
    const fact = { tenant: 'default', type: 'run.completed', subject: 'run:1' };
    expect(await rowsReadBy(() => isAwaited(sql, fact))).toBe(0);
  });

  it('one that expires, or has to be replayed, is found without reading the others', async () => {
    const { sql } = test.database;
    await sql`update foundation.suspensions set due_at = hearth_now() where id = 'sus_77'`;
    await sql`update foundation.suspensions set replayed_at = null where id = 'sus_78'`;
    // Dead versions of the two rows may be passed.
    expect(await rowsReadBy(() => selectDueSuspensions(sql, 50))).toBeLessThanOrEqual(3);
    expect(await rowsReadBy(() => selectUnreplayedSuspensions(sql, 50))).toBeLessThanOrEqual(3);
    const [suspension] = await selectUnreplayedSuspensions(sql, 50);
    expect(suspension?.id).toBe('sus_78');
    const replay = () => selectLogMatches(sql, suspension as SuspensionRecord, { after: 0, limit: 100 });
    // Its subscription and the inputs of its subject, in a log that holds 50,000 of its type.
    expect(await rowsReadBy(replay)).toBeLessThanOrEqual(20);
    // Their sessions are made up: nothing could go on with them.
    await sql`update foundation.suspensions set status = 'cancelled' where id in ('sus_77', 'sus_78')`;
  });

  // What a suspension and its continuation cost altogether, the harness's own looks at the end included.
  it('an input to one of them resolves as with none: the same reads', async () => {
    const world = openFoundationWorld(test.database);
    const agent = await world.addAgent({
      script: {
        rules: [
          {
            when: { type: 'm.begin' },
            steps: [{ suspend: { reason: 'r', until: [{ type: 'm.answer', subject: 's' }] } }, { complete: 1 }],
          },
        ],
      },
    });
    const read = await rowsReadBy(async () => {
      await world.send({ type: 'm.begin', target: { agent: agent.agent } });
      await world.settle();
      await world.send({ kind: 'event', type: 'm.answer', subject: { resource: 's' } });
      await world.settle();
    });
    expect((await world.runs(agent)).map(({ status }) => status)).toEqual(['suspended', 'completed']);
    expect(read).toBeLessThan(300);
  });
});
