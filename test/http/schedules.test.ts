/** F15: schedules at the private door and on the command line. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ran, runCli } from '../cli/cli-world.js';
import { startTestDomain, type TestDomain } from '../support/test-domain.js';

let domain: TestDomain;
const rule = { kind: 'timer', at: '2030-01-01T00:00:00Z' };
const post = (body: object) => domain.api('POST', '/v1/schedules', { body: { agent: 'echo', ...body } });
const cli = (...args: string[]): Promise<Ran> =>
  runCli(['schedules', ...args], { HEARTH_URL: domain.running.urls.api, HEARTH_TOKEN: domain.operatorToken });

beforeAll(async () => {
  domain = await startTestDomain();
  const config = { rules: [{ when: { type: 'timer.expired' }, steps: [{ complete: 'woken' }] }] };
  await domain.api('POST', '/admin/v1/agents', { body: { name: 'echo', runtime: { id: 'scripted', config } } });
});
afterAll(() => domain.stop());

describe('F15: /v1/schedules', () => {
  it('a timer that is set wakes its agent, whatever loop was asleep', async () => {
    const soon = new Date(Date.parse('2020-01-01T00:00:00Z')).toISOString();
    const { status, body } = await post({ rule: { kind: 'timer', at: soon } });
    expect([status, body.status]).toEqual([201, 'active']);
    const path = `/v1/schedules/${String(body.id)}`;
    await expect.poll(async () => (await domain.api('GET', path)).body.status, { timeout: 5_000 }).toBe('ended');
    const runs = async () => (await domain.api('GET', '/v1/runs?agent=echo')).body.items as { status: string }[];
    await expect
      .poll(async () => (await runs()).map(({ status }) => status), { timeout: 5_000 })
      .toEqual(['completed']);
  });

  it('a list gives each schedule once over its pages, and by status', async () => {
    const keys = ['a', 'b', 'c'];
    for (const key of keys) await post({ rule, key });
    const seen: unknown[] = [];
    let path = '/v1/schedules?agent=echo&status=active&limit=2';
    for (let cursor: unknown = ''; cursor !== null; ) {
      const { body } = await domain.api('GET', path);
      seen.push(...(body.items as { key: string }[]).map(({ key }) => key));
      cursor = body.next_cursor;
      path = `/v1/schedules?agent=echo&status=active&limit=2&cursor=${String(cursor)}`;
    }
    expect(seen).toEqual(keys);
  });

  it('BR-43: a key that is set twice is one schedule, and cancelled once', async () => {
    const [first, second] = [await post({ rule, key: 'twice' }), await post({ rule, key: 'twice' })];
    expect(second.body.id).toBe(first.body.id);
    const path = `/v1/schedules/${String(first.body.id)}`;
    expect((await domain.api('DELETE', path)).status).toBe(204);
    expect((await domain.api('DELETE', path)).status).toBe(409);
  });

  it.each([
    ['six fields', { rule: { kind: 'cron', cron: '0 * * * * *' } }, 400],
    ['a zone that is none', { rule: { kind: 'cron', cron: '0 9 * * *', zone: 'Mars/Olympus' } }, 400],
    ['a year that no database knows', { rule: { kind: 'timer', at: '0000-01-01T00:00:00Z' } }, 400],
    ['beats of less than a second', { rule: { kind: 'heartbeat', every_s: 0 } }, 400],
    ['what only the domain tells', { rule: { kind: 'expiry', at: rule.at } }, 400],
    ['a deadline of a commitment', { rule: { kind: 'deadline', at: rule.at, of: 'commitment' } }, 400],
    ['a key of the domain itself', { rule, key: 'expiry:cmt_1' }, 400],
    ['too much data', { rule, data: 'x'.repeat(16 * 1024) }, 413],
    ['a session that is none', { rule, session: 'ses_none' }, 404],
  ])('%s is refused', async (_, body, status) => {
    expect((await post(body)).status).toBe(status);
  });
});

describe('F15: hearth schedules', () => {
  it('adds, shows, lists and cancels', async () => {
    const added = await cli(
      'add',
      'echo',
      '--cron',
      '0 9 * * 1-5',
      '--zone',
      'Europe/Berlin',
      '--key',
      'work',
      '--json',
    );
    expect(added).toMatchObject({ exitCode: 0, err: '' });
    const { id } = JSON.parse(added.out);
    expect((await cli('show', id)).out).toContain('Europe/Berlin');
    expect((await cli('list', 'echo', '--status', 'active')).out).toContain(id);
    expect((await cli('cancel', id)).out).toContain('comes no more');
    expect((await cli('cancel', id)).exitCode).not.toBe(0);
    expect((await cli('add', 'echo', '--at', rule.at, '--every', '5')).err).toContain('exactly one');
  });
});
