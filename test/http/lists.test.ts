// Lists and logs by opaque cursor: every row once, in both directions, and an answer for every cursor that names no place.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCursors } from '../../src/http/cursor.js';
import { Problem } from '../../src/protocol/index.js';
import type { TestDomain } from '../support/test-domain.js';
import { noteFor, type PrivateDoorWorld, startPrivateDoorWorld } from './private-door-world.js';

let domain: TestDomain;
let tokens: PrivateDoorWorld['tokens'];
let settled: PrivateDoorWorld['settled'];
let home = '';
let agentHome = '';

beforeAll(async () => {
  ({ domain, tokens, settled } = await startPrivateDoorWorld());
  home = (await domain.api('GET', '/v1/whoami')).text('home');
  agentHome = (await domain.api('GET', '/admin/v1/agents/echo')).text('home');
});

afterAll(() => domain.stop());

interface Listed {
  items: Record<string, unknown>[];
  next_cursor: string | null;
  previous_cursor: string | null;
}

async function page(path: string): Promise<Listed> {
  const { status, body } = await domain.api('GET', path);
  expect([path, status]).toEqual([path, 200]);
  return body as unknown as Listed;
}

const count = 500;
const at = '2020-02-02T02:02:02.123456Z';
const ulid = (n: number) => `01${n.toString().padStart(24, '0')}`;

/** Rows of one instant in each table that is listed by time. */
async function seed(): Promise<void> {
  const { sql } = domain.test.database;
  const numbers = sql`generate_series(1, ${count}) n`;
  const id = (kind: string, of: string) => sql`${`${kind}_${of}_01`} || lpad(n::text, 24, '0')`;
  await sql`
    insert into foundation.inputs (home, id, tenant, kind, type, source, source_event_id, body_digest, principal,
                                   trust_class, occurred_at, received_at, data_content_type, position)
    select ${home}, ${id('in', home)}, 'default', 'event', 'tie.test', 'tie', 'tie-' || n, 'd', 'p', 'instruction',
           ${at}::timestamptz, ${at}::timestamptz, 'application/json', 1000000 + n
      from ${numbers}`;
  await sql`
    insert into foundation.sessions (home, id, tenant, agent, state, runtime_id, runtime_version, created_at)
    select ${agentHome}, ${id('ses', agentHome)}, 'default', 'agent://alpha.test/agents/echo', 'idle', 'scripted', '1',
           ${at}::timestamptz
      from ${numbers}`;
  await sql`
    insert into foundation.runs (home, id, tenant, session_id, status, activation_candidate_id, runtime_id,
                                 runtime_version, input_log_cursor, created_at, ended_at)
    select ${agentHome}, ${id('run', agentHome)}, 'default', 'ses_tie', 'completed', 'cand', 'scripted', '1', 0,
           ${at}::timestamptz, ${at}::timestamptz
      from ${numbers}`;
  await sql`
    insert into foundation.audit_entries (home, id, at, actor, action, object, outcome)
    select ${home}, 'aud_' || lpad(n::text, 9, '0'), ${at}::timestamptz, 'a', 'tie.test', 'o', 'done' from ${numbers}`;
}

describe('lists by time', () => {
  beforeAll(seed);

  it.each([
    '/v1/inputs?type=tie.test',
    '/v1/runs?session=ses_tie',
    `/v1/sessions?agent=echo`,
    '/v1/audit?action=tie.test',
  ])('%s: 500 rows of one instant, page size 7, both directions: every id exactly once (BR-36)', async (path) => {
    const older: unknown[] = [];
    let back: string | null = null;
    for (let next: string | null = ''; next !== null; ) {
      const read = await page(`${path}&limit=7${next === '' ? '' : `&cursor=${next}`}`);
      older.push(...read.items.map(({ id }) => id));
      next = read.next_cursor;
      back = read.previous_cursor;
      expect(older.length).toBeLessThanOrEqual(count + 50);
    }
    expect(new Set(older).size).toBe(older.length);
    expect(older.length).toBeGreaterThanOrEqual(count);
    const lastPage = older.slice(-(older.length % 7 || 7));
    let newer: unknown[] = lastPage;
    for (;;) {
      const read: Listed = await page(`${path}&limit=7&before=${back}`);
      if (read.items.length === 0) break;
      newer = [...read.items.map(({ id }) => id), ...newer];
      back = read.previous_cursor;
      expect(newer.length).toBeLessThanOrEqual(older.length);
    }
    expect(newer).toEqual(older);
  });

  it('a cursor outside what is kept is a gap or ahead, in either direction, and never an empty page (BR-38)', async () => {
    const { sql } = domain.test.database;
    const path = '/v1/inputs?type=tie.test&limit=7';
    let cursor = (await page(path)).next_cursor;
    for (let turn = 0; turn < 5; turn += 1) cursor = (await page(`${path}&cursor=${cursor}`)).next_cursor;
    // Retention takes the old half, the row of the cursor with it: rows 1 to 460 of 500, read from the newest.
    await sql`delete from foundation.inputs where type = 'tie.test' and id <= ${`in_${home}_${ulid(460)}`}`;
    for (const way of ['cursor', 'before']) {
      const refused = await domain.api('GET', `${path}&${way}=${cursor}`);
      expect(refused.body).toMatchObject({ status: 410, code: 'cursor_gap' });
      const usable = await page(`${path}&before=${refused.text('oldest_cursor')}`);
      expect(usable.items[6]).toMatchObject({ id: `in_${home}_${ulid(461)}` });
    }
    const newest = (await page(path)).previous_cursor;
    // A backup from before the cursor was given out comes back.
    await sql`delete from foundation.inputs where received_at >= ${at}::timestamptz and id > ${`in_${home}_${ulid(470)}`}`;
    for (const way of ['cursor', 'before']) {
      expect((await domain.api('GET', `${path}&${way}=${newest}`)).body).toMatchObject({
        status: 400,
        code: 'cursor_ahead',
      });
    }
  });

  it('filters narrow the list, and unknown or malformed ones are refused by name', async () => {
    const sent = await domain.api('POST', '/v1/inputs', { token: tokens.ada, body: noteFor('filter-1') });
    const id = sent.text('input_id');
    await settled(id, tokens.ada);
    const ids = async (query: string, token = tokens.ada) => {
      const { body } = await domain.api('GET', `/v1/inputs?${query}`, { token });
      return (body as unknown as Listed).items.map((item) => item.id);
    };
    for (const query of [
      'kind=command',
      'type=note.*',
      'type=note.written',
      'disposition=ACTIVATE',
      'agent=echo',
      'source=human://alpha.test/users/ada',
      'since=2021-01-01T00:00:00Z',
    ])
      expect([query, await ids(query)]).toEqual([query, [id]]);
    for (const query of ['kind=event', 'type=other.*', 'disposition=STEER', 'until=2021-01-01T00:00:00Z', 'source=x'])
      expect([query, await ids(query)]).toEqual([query, []]);
    expect(await ids('limit=50', tokens.bob)).toEqual([]);
    const run = await domain.api('GET', '/v1/runs?status=completed&agent=echo&since=2021-01-01T00:00:00Z', {
      token: tokens.ada,
    });
    expect(run.body.items).toHaveLength(1);
    for (const [path, named] of [
      ['/v1/inputs?colour=red', 'colour'],
      ['/v1/inputs?kind=poem', 'kind'],
      ['/v1/runs?since=yesterday', 'since'],
      ['/v1/runs?limit=1&limit=2', 'limit'],
      ['/v1/whoami?verbose=1', 'verbose'],
      ['/v1/sessions?state=tired', 'state'],
    ] as const) {
      const refused = await domain.api('GET', path);
      expect(refused.body).toMatchObject({ status: 400, code: 'schema_invalid' });
      expect(refused.text('detail')).toContain(named);
    }
  });

  it('a session shows where it stands and what waits in its lane', async () => {
    const body = { ...noteFor('lane-1', { type: 'wait.here', correlation_id: 'lane' }) };
    const sent = await domain.api('POST', '/v1/inputs', { token: tokens.ada, body });
    const read = await settled(sent.text('input_id'), tokens.ada);
    const [{ session_id: session }] = read.body.disposition as [{ session_id: string }];
    await expect
      .poll(async () => (await domain.api('GET', `/v1/sessions/${session}`, { token: tokens.ada })).body)
      .toMatchObject({
        id: session,
        state: 'suspended',
        agent: 'agent://alpha.test/agents/echo',
        lane: [],
        suspension: { reason: 'asked' },
      });
    const listed = await domain.api('GET', '/v1/sessions?state=suspended', { token: tokens.ada });
    expect(listed.body).toMatchObject({ items: [{ id: session }], next_cursor: null });
  });
});

describe('logs', () => {
  it("a run's events and a mailbox: ahead of the head and behind what is kept are told, the rest reads on (BR-38)", async () => {
    const { sql } = domain.test.database;
    const sent = await domain.api('POST', '/v1/inputs', { token: tokens.ada, body: noteFor('log-1') });
    const read = await settled(sent.text('input_id'), tokens.ada);
    const [run] = read.body.run_refs as [string];
    await domain.api('POST', '/v1/inputs', { token: tokens.ada, body: noteFor('log-2') });
    await domain.api('POST', '/v1/inputs', { token: tokens.ada, body: noteFor('log-3') });
    const ada = (await domain.api('GET', '/v1/whoami', { token: tokens.ada })).text('home');
    const logs = [
      {
        path: `/v1/runs/${run}/events`,
        lose: () => sql`delete from foundation.run_events where run_id = ${run} and seq <= 2`,
        rewind: () => sql`update foundation.runs set event_cursor = 1 where id = ${run}`,
      },
      {
        path: '/v1/messages',
        lose: () => sql`delete from home.mailbox_messages where home = ${ada} and position <= 2`,
        rewind: () => sql`update home.mailboxes set last_position = 1 where home = ${ada}`,
      },
    ];
    for (const { path, lose, rewind } of logs) {
      const get = (query: string) => domain.api('GET', `${path}?${query}`, { token: tokens.ada });
      const first = (await get('limit=1')).text('cursor');
      const head = (await get('limit=200')).text('cursor');
      // Nothing new is no error.
      expect((await get(`after=${head}`)).body).toMatchObject({ items: [], cursor: head });
      await lose();
      const gap = await get(`after=${first}`);
      expect(gap.body).toMatchObject({ status: 410, code: 'cursor_gap' });
      const usable = await get(`after=${gap.text('oldest_cursor')}`);
      expect(usable.status).toBe(200);
      expect((usable.body as unknown as Listed).items[0]).toMatchObject(
        path === '/v1/messages' ? { position: 3 } : { seq: 3 },
      );
      await rewind();
      expect((await get(`after=${head}`)).body).toMatchObject({ status: 400, code: 'cursor_ahead' });
    }
  });

  it('a conversation shows all its messages, page by page', async () => {
    let conversation: string | undefined;
    for (let n = 0; n < 5; n += 1) {
      const sent = await domain.api('POST', '/v1/messages', {
        token: tokens.bob,
        body: {
          to: 'human://alpha.test/users/ada',
          type: 'message',
          body: { text: `m${n}` },
          conversation_id: conversation,
        },
      });
      conversation = sent.text('result', 'conversation_id');
    }
    const seen: unknown[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const path = `/v1/conversations/${conversation}?limit=2${next === '' ? '' : `&cursor=${next}`}`;
      const { body } = await domain.api('GET', path, { token: tokens.bob });
      seen.push(...(body.messages as { body: { text: string } }[]).map((message) => message.body.text));
      next = body.next_cursor as string | null;
    }
    expect(seen).toEqual(['m0', 'm1', 'm2', 'm3', 'm4']);
  });
});

describe('cursors', () => {
  const cursors = createCursors(new Uint8Array(32).fill(7));

  it('what a list gives out it takes, and no other list, no other key and no changed text (seeded)', () => {
    const place = fc.array(fc.oneof(fc.string(), fc.maxSafeInteger()), { minLength: 1, maxLength: 8 });
    const run = fc.property(fc.string(), place, fc.nat(), (list, place, spot) => {
      const cursor = cursors.give(list, place);
      expect(cursors.take(list, cursor)).toEqual(place);
      const changed = [...cursor];
      const index = spot % cursor.length;
      changed[index] = changed[index] === 'A' ? 'B' : 'A';
      for (const [other, text] of [
        [`${list}x`, cursor],
        [list, changed.join('')],
        [list, ''],
      ] as const)
        expect(() => cursors.take(other, text)).toThrow(Problem);
      expect(() => createCursors(new Uint8Array(32)).take(list, cursor)).toThrow(Problem);
    });
    fc.assert(run, { seed: 36, numRuns: 300 });
  });

  it.each([
    '/v1/inputs',
    '/v1/runs',
    '/v1/sessions',
    '/v1/audit',
    '/v1/commitments',
    '/admin/v1/agents',
    '/admin/v1/humans',
    '/admin/v1/sources',
    '/admin/v1/credentials',
    '/admin/v1/peers',
    '/admin/v1/outbox',
    '/admin/v1/quarantine',
    '/admin/v1/directory',
    '/admin/v1/agents/echo/subscriptions',
  ])('%s refuses a cursor of another list, of another reader, of other filters and a made-up one', async (path) => {
    const foreign = (await page('/v1/audit?limit=1&action=principal.create')).previous_cursor ?? '';
    expect(foreign).not.toBe('');
    for (const cursor of [foreign, 'AA', Buffer.from('{"id":"x"}').toString('base64url'), 'not/base64'])
      expect((await domain.api('GET', `${path}?cursor=${encodeURIComponent(cursor)}`)).body).toMatchObject({
        status: 400,
        code: 'cursor_invalid',
      });
  });
});
