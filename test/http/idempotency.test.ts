// Idempotency-Key on every POST of the private door: one act and one answer per key, whatever crashes or comes at once.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doors } from '../../spec/tools/openapi/documents.js';
import type { Database } from '../../src/platform/index.js';
import { Killed } from '../support/foundation-world.js';
import { type ApiAnswer, startTestDomain, type TestDomain } from '../support/test-domain.js';

/** What the next transaction of a name meets: an error in its place, or a wait. */
const fault: { at?: string; moment?: 'before' | 'after'; held?: Promise<void> } = {};
let domain: TestDomain;

beforeAll(async () => {
  domain = await startTestDomain({ interpose: (ports) => ({ ...ports, database: faulty(ports.database) }) });
  const runtime = { id: 'scripted', config: { rules: [] } };
  await domain.api('POST', '/admin/v1/agents', { body: { name: 'echo', runtime } });
});

afterAll(() => domain.stop());

function faulty(db: Database): Database {
  return {
    ...db,
    async transact(name, work, options) {
      const met = fault.at === name ? { ...fault } : {};
      if (met.at !== undefined) delete fault.at;
      const result = await db.transact(
        name,
        async (tx) => {
          const worked = await work(tx);
          await met.held;
          if (met.moment === 'before') throw new Killed(name);
          return worked;
        },
        options,
      );
      if (met.moment === 'after') throw new Killed(name);
      return result;
    },
  };
}

function post(path: string, key: string, body?: object, token?: string): Promise<ApiAnswer> {
  return domain.api('POST', path, {
    headers: { 'idempotency-key': key },
    ...(body ? { body } : {}),
    ...(token ? { token } : {}),
  });
}

const inputOf = (event: string, more: object = {}) => ({ kind: 'event', type: 'a.b', source_event_id: event, ...more });

async function rows(table: string): Promise<number> {
  const { sql } = domain.test.database;
  const [row] = await sql<{ count: number }[]>`select count(*) from ${sql(table)}`;
  return row?.count ?? 0;
}

/** What people did, as audited; the clockwork audits beside it. */
async function acts(): Promise<number> {
  const { sql } = domain.test.database;
  const [row] = await sql<{ count: number }[]>`
    select count(*) from foundation.audit_entries where actor like 'human:%' and action not like 'effect.%' and action not like 'message.%'`;
  return row?.count ?? 0;
}

describe('one key, one act', () => {
  const cases: [path: string, body: object | undefined, status: number][] = [
    ['/v1/inputs', inputOf('same-1'), 202],
    ['/v1/messages', { to: 'agent://alpha.test/agents/echo', type: 'message', body: { text: 'hi' } }, 202],
    ['/admin/v1/humans', { name: 'ada' }, 201],
    ['/admin/v1/agents', { name: 'second', runtime: { id: 'scripted', config: { rules: [] } } }, 201],
    ['/admin/v1/agents/second/pause', undefined, 200],
    ['/admin/v1/agents/second/resume', undefined, 200],
    ['/admin/v1/agents/second/subscriptions', { type: 'c.*' }, 201],
    ['/v1/schedules', { agent: 'second', rule: { kind: 'timer', at: '2030-01-01T00:00:00Z' } }, 201],
    ['/admin/v1/sources', { name: 'github', adapter: 'github' }, 201],
    ['/admin/v1/credentials', { kind: 'person', principal: 'ada' }, 201],
    ['/admin/v1/peers', { domain: 'gamma.test', fingerprint: 'A'.repeat(43) }, 201],
    ['/admin/v1/peers/gamma.test/block', undefined, 200],
    ['/admin/v1/agents/second/end', undefined, 200],
  ];

  it.each(cases)(
    'POST %s: the same answer again, status and body, and nothing done twice',
    async (path, body, status) => {
      const first = await post(path, 'k 1', body);
      const audited = await acts();
      const again = await post(path, 'k 1', body);
      expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([status, null]);
      expect([again.status, again.body]).toEqual([status, first.body]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(await acts()).toBe(audited);
      const other = await post(path, 'k 1', { other: true });
      expect(other.body).toMatchObject({ status: 409, code: 'idempotency_conflict' });
    },
  );

  it('every POST of the door takes one', () => {
    const posts = doors().agent.endpoints.filter(({ method }) => method === 'POST');
    expect(posts.length).toBeGreaterThan(10);
    expect(
      posts
        .filter(({ repeats }) => repeats === 'derived')
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['/admin/v1/peers', '/admin/v1/peers/:domain/block', '/v1/messages']);
  });

  it('a key belongs to its caller and path: others may use the same text', async () => {
    const issued = await domain.api('POST', '/admin/v1/credentials', { body: { kind: 'person', principal: 'ada' } });
    const body = inputOf('scoped', { target: { agent: 'echo' } });
    expect((await post('/v1/inputs', 'scoped', body)).status).toBe(202);
    const other = await post('/v1/inputs', 'scoped', body, issued.text('token'));
    // Ada does not own the agent: she is refused, not shown what the operator was answered.
    expect([other.status, other.headers.get('idempotency-replayed')]).toEqual([403, null]);
    expect((await post('/admin/v1/humans', 'scoped', { name: 'scoped' })).status).toBe(201);
  });

  it.each(['', 'x'.repeat(256), 'caf\u00e9', 'a\tb'])('the key %j is refused', async (key) => {
    const refused = await post('/v1/inputs', key, inputOf('bad-key'));
    expect(refused.body).toMatchObject({ status: 400, code: 'schema_invalid' });
  });

  it('a key of 255 characters is taken, also where ids follow from it', async () => {
    const key = '~'.repeat(255);
    const body = { to: 'agent://alpha.test/agents/echo', type: 'message', body: { text: 'long' } };
    const first = await post('/v1/messages', key, body);
    expect(first.status).toBe(202);
    expect((await post('/v1/messages', key, body)).body).toEqual(first.body);
  });

  it('a refused request has done nothing, and its key is free again', async () => {
    expect((await post('/admin/v1/humans', 'refused', { name: 'NOT A NAME' })).status).toBe(400);
    expect((await post('/admin/v1/humans', 'refused', { name: 'grace' })).status).toBe(201);
    const message = { to: 'agent://unknown.test/agents/x', type: 'message', body: { text: 'x' } };
    expect((await post('/v1/messages', 'refused', message)).status).toBe(409);
    expect((await post('/v1/messages', 'refused', { ...message, to: 'agent://alpha.test/agents/echo' })).status).toBe(
      202,
    );
  });
});

describe('faults', () => {
  it('while the first is in work a repeat is told to come back, and then gets its answer', async () => {
    let release = (): void => undefined;
    fault.held = new Promise((resolve) => {
      release = resolve;
    });
    fault.at = 'idempotent /v1/inputs';
    const first = post('/v1/inputs', 'slow', inputOf('slow'));
    await expect.poll(() => fault.at).toBeUndefined();
    const early = await post('/v1/inputs', 'slow', inputOf('slow'));
    expect(early.body).toMatchObject({ status: 409, code: 'idempotency_in_progress' });
    expect(early.headers.get('retry-after')).toBe('1');
    release();
    delete fault.held;
    expect((await post('/v1/inputs', 'slow', inputOf('slow'))).body).toEqual((await first).body);
  });

  it('two hundred at once under one key are one act, and each gets its answer or is told to come back', async () => {
    const all = await Promise.all(Array.from({ length: 200 }, () => post('/v1/inputs', 'burst', inputOf('burst'))));
    const done = all.filter(({ status }) => status === 202);
    expect(new Set(done.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(done[0]?.body.duplicate).toBe(false);
    expect(
      all.every(
        ({ status, body }) => status === 202 || ['idempotency_in_progress', 'rate_limited'].includes(String(body.code)),
      ),
    ).toBe(true);
  });

  it.each([
    ['idempotent /admin/v1/humans', '/admin/v1/humans', { name: 'crash' }, 'home.principals'],
    ['idempotent /v1/inputs', '/v1/inputs', inputOf('crash'), 'foundation.inputs'],
  ] as const)('a crash at the commit of %s leaves all or nothing', async (at, path, body, table) => {
    const before = await rows(table);
    Object.assign(fault, { at, moment: 'before' });
    expect((await post(path, 'crash', body)).status).toBe(500);
    expect(await rows(table)).toBe(before);
    Object.assign(fault, { at, moment: 'after' });
    expect((await post(path, 'crash', body)).status).toBe(500);
    expect(await rows(table)).toBe(before + 1);
    const answer = await post(path, 'crash', body);
    expect([answer.status < 300, answer.headers.get('idempotency-replayed')]).toEqual([true, 'true']);
    expect(await rows(table)).toBe(before + 1);
  });

  it('a crash between sending a message and keeping the answer sends nothing twice', async () => {
    const message = { to: 'agent://alpha.test/agents/echo', type: 'message', body: { text: 'once' } };
    const before = await rows('foundation.effects');
    Object.assign(fault, { at: 'keep answer', moment: 'before' });
    expect((await post('/v1/messages', 'half', message)).status).toBe(500);
    expect(await rows('foundation.effects')).toBe(before + 1);
    // Its process is dead, but nobody knows that before the claim has run out.
    expect((await post('/v1/messages', 'half', message)).body.code).toBe('idempotency_in_progress');
    const { sql } = domain.test.database;
    await sql`update home.idempotency_keys set claimed_until = hearth_lease_now() where claimed_until is not null`;
    const answer = await post('/v1/messages', 'half', message);
    expect([answer.status, answer.body.status]).toEqual([202, 'succeeded']);
    expect(await rows('foundation.effects')).toBe(before + 1);
    expect((await post('/v1/messages', 'half', message)).body).toEqual(answer.body);
  });

  it('a key is remembered for 24 hours, and one principal has room for 10,000 of them and no more', async () => {
    const { sql } = domain.test.database;
    const home = (await domain.api('GET', '/v1/whoami')).text('home');
    await sql`update home.idempotency_keys set expires_at = hearth_now()`;
    expect((await post('/v1/inputs', 'k 1', inputOf('after-a-day'))).status).toBe(202);
    await sql`
      insert into home.idempotency_keys (home, key_digest, body_digest, status, answer, expires_at)
      select ${home}, 'd' || n, 'b', 200, '', hearth_now() + interval '1 hour' from generate_series(1, 9998) n`;
    expect((await post('/v1/inputs', 'last', inputOf('last'))).status).toBe(202);
    expect((await post('/v1/inputs', 'too many', inputOf('more'))).body).toMatchObject({
      status: 429,
      code: 'rate_limited',
    });
    // A repeat needs no room.
    expect((await post('/v1/inputs', 'last', inputOf('last'))).status).toBe(202);
    await sql`update home.idempotency_keys set expires_at = hearth_now() where key_digest like 'd%'`;
    expect((await post('/v1/inputs', 'too many', inputOf('more'))).status).toBe(202);
    const [kept] = await sql<{ hours: number }[]>`
      select round(extract(epoch from max(expires_at) - hearth_now()) / 3600)::int as hours from home.idempotency_keys`;
    expect(kept?.hours).toBe(24);
  });

  it('what is kept of an answer tells no token', async () => {
    const made = await post('/admin/v1/credentials', 'secret', { kind: 'operator', principal: 'operator' });
    const { sql } = domain.test.database;
    const kept = await sql<{ answer: Buffer }[]>`select answer from home.idempotency_keys where answer is not null`;
    expect(Buffer.concat(kept.map(({ answer }) => answer)).includes(made.text('token'))).toBe(false);
  });
});
