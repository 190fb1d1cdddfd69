// BR-88 at the private door and the webhook: whatever a caller with a good credential sends is answered in 4xx with what to
// do, stores nothing, and never breaks the process. Callers are the operator, so that nothing is refused for want of a right.
import { sign } from '@octokit/webhooks-methods';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { callDoor } from '../support/test-domain.js';
import { goodMessageArrives, type HostileWorld, openHostileWorld, rowsLeftBy } from './hostile-world.js';

let world: HostileWorld;
let secret = '';

beforeAll(async () => {
  world = await openHostileWorld();
  const source = await world.domain.api('POST', '/admin/v1/sources', { body: { name: 'github', adapter: 'github' } });
  secret = source.text('webhook', 'secret');
});
afterEach(() => goodMessageArrives(world));
afterAll(() => world.close());

const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const input = (more: string) => `{"kind":"event","type":"a.b","source_event_id":"hostile"${more}}`;

async function expectRefused(method: string, path: string, body?: string): Promise<void> {
  const left = await rowsLeftBy(world.domain, async () => {
    const answer = await world.domain.api(method, path, body === undefined ? {} : { body });
    expect([path, answer.status >= 400 && answer.status < 500, answer.status]).toEqual([path, true, answer.status]);
    expect(answer.body).toMatchObject({
      code: expect.any(String),
      action: expect.any(String),
      request_id: expect.any(String),
    });
  });
  expect(left).toEqual({});
}

describe('URLs', () => {
  const nul = [
    '/v1/runs/%00',
    '/v1/conversations/%00',
    '/v1/commitments/x%00',
    '/v1/commitments?agent=%00',
    '/v1/messages?agent=a%00',
    '/v1/inputs/%00',
    '/admin/v1/agents/%00',
    '/admin/v1/agents/%00/subscriptions',
    '/admin/v1/peers/%00',
    '/v1/runs?agent=%00',
  ];
  const broken = [
    '/v1/conversations/%ff',
    '/v1/conversations/%ed%a0%80',
    '/v1/runs/%zz',
    '/v1/messages?after=-1',
    '/v1/messages?after=9e99',
    '/v1/messages?limit=0',
    '/v1/messages?limit=1&limit=2',
    '/v1/messages?__proto__=1',
    '/v1/runs?status=constructor',
    `/v1/conversations/${'x'.repeat(8_000)}`,
  ];
  const cursors = [
    '/v1/runs',
    '/admin/v1/agents',
    '/admin/v1/humans',
    '/admin/v1/credentials',
    '/admin/v1/sources',
    '/admin/v1/directory',
    '/admin/v1/peers',
    '/admin/v1/outbox',
  ].flatMap((path) => ['AA', 'AAAA', '_w', '!', 'A'].map((cursor) => `${path}?cursor=${cursor}`));
  it.each([...nul, ...broken, ...cursors])('GET %s', (path) => expectRefused('GET', path));
  it.each(['/admin/v1/credentials/%00/revoke', '/admin/v1/agents/%00/pause', '/admin/v1/peers/%00/block'])(
    'POST %s',
    (path) => expectRefused('POST', path),
  );

  it.each([
    '/federation/v1/directory?cursor=AA',
    '/federation/v1/directory?limit=1&limit=2',
    '/webhooks/github/%00',
    '/federation/v1/commitments/%00/transitions',
  ])('the federation door: %s', async (path) => {
    const method = path.startsWith('/webhooks') ? 'POST' : 'GET';
    const answer = await callDoor(method, `${world.domain.running.urls.federation}${path}`);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
  });
});

describe('bodies of the agent API', () => {
  it.each([
    ['null', 'null'],
    ['an array', '[]'],
    ['a string for an object', input(',"target":"echo"')],
    ['a number for a string', input(',"subject":{"resource":1}')],
    ['depth 10,000', input(`,"data":${deep(10_000)}`)],
    ['depth 30', input(`,"data":${deep(30)}`)],
    ['a member twice, once escaped', input(',"\\u0074ype":"b.c"')],
    ['__proto__', input(',"data":{"__proto__":{}}')],
    ['a lone surrogate', input(',"data":"\\ud800"')],
    ['NUL', input(',"data":"\\u0000"')],
    ['an unsafe integer', input(',"data":9007199254740993')],
    ['a number of 900 KB', input(`,"data":${'9'.repeat(900_000)}`)],
    ['a type of the domain itself', '{"kind":"event","type":"interaction.request","source_event_id":"x"}'],
    ['an event in year 0', input(',"occurred_at":"0000-01-01T00:00:00Z"')],
    ['an event before year 1', input(',"occurred_at":"0001-01-01T00:00:00+23:59"')],
    ['an event after year 9999', input(',"occurred_at":"9999-12-31T23:59:59-23:59"')],
    ['a leap second', input(',"occurred_at":"2026-06-30T23:59:60Z"')],
    ['a control by the back door', '{"kind":"control","type":"control.cancel","source_event_id":"x"}'],
  ])('an input: %s', (_, body) => expectRefused('POST', '/v1/inputs', body));

  it.each([
    ['to nobody', '{"to":"x","type":"message","body":{"text":"x"}}'],
    ['of an unknown type', '{"to":"agent://friend.test/agents/kim","type":"constructor","body":{}}'],
    ['with a body of depth 28', `{"to":"agent://friend.test/agents/kim","type":"message","body":${deep(28)}}`],
    ['with a body of depth 31', `{"to":"agent://friend.test/agents/kim","type":"message","body":${deep(31)}}`],
    [
      'with 500,000 unknown members',
      `{"to":"agent://friend.test/agents/kim","type":"message","body":{${Array.from({ length: 80_000 }, (_, n) => `"m${n}":0`)}}}`,
    ],
    [
      'in a conversation of another domain',
      '{"to":"agent://friend.test/agents/kim","type":"message","conversation_id":"conv_friend.test_abc_01m8qch4erz352et9d5zdjdak1","body":{"text":"x"}}',
    ],
  ])('a message %s', async (_, body) => {
    const answer = await world.domain.api('POST', '/v1/messages', { body });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(answer.body.action).toEqual(expect.any(String));
  });

  it.each(['', 'a b', 'x'.repeat(201), 'ü'])('an idempotency key %j never sends without one', async (key) => {
    const answer = await world.domain.api('POST', '/v1/messages', {
      body: { to: 'x', type: 'message', body: { text: 'x' } },
      headers: { 'idempotency-key': encodeURIComponent(key) === key ? key : Buffer.from(key).toString('latin1') },
    });
    expect(answer.status).toBe(400);
  });
});

describe('bodies of the admin API', () => {
  const wide = (count: number, item: string) => `[${Array(count).fill(item)}]`;
  it.each([
    ['/admin/v1/agents', `{"name":"x","runtime":{"id":"scripted","config":${deep(31)}}}`],
    ['/admin/v1/agents', `{"name":"x","runtime":{"id":"scripted","config":{"rules":${wide(200_000, '0')}}}}`],
    ['/admin/v1/agents', `{"name":"x","runtime":{"id":"none","config":{}}}`],
    [
      '/admin/v1/agents',
      `{"name":"x","runtime":{"id":"scripted","config":{"rules":[]}},"grants":${wide(100_000, '{}')}}`,
    ],
    ['/admin/v1/agents', '{"name":"../x","runtime":{"id":"scripted","config":{"rules":[]}}}'],
    ['/admin/v1/humans', '{"name":"A"}'],
    ['/admin/v1/humans', `{"name":"${'a'.repeat(65)}"}`],
    ['/admin/v1/humans', '{"name":"x","roles":["root"]}'],
    ['/admin/v1/humans', '{"name":"x","display_name":"\\u0000"}'],
    ['/admin/v1/credentials', '{"kind":"person","principal":"nobody"}'],
    ['/admin/v1/credentials', '{"kind":"person","principal":"hana","expires_in_s":1e15}'],
    ['/admin/v1/sources', '{"name":"x","adapter":"constructor"}'],
    ['/admin/v1/peers', '{"domain":"127.0.0.1","fingerprint":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}'],
    ['/admin/v1/peers', '{"domain":"EVIL.test","fingerprint":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}'],
    ['/admin/v1/peers', '{"domain":"evil.test:80","fingerprint":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}'],
    ['/admin/v1/agents/bob/subscriptions', '{"type":"*"}'],
    ['/admin/v1/agents/bob/subscriptions', '{"type":"a..b"}'],
    ['/admin/v1/agents/bob/subscriptions', '{"type":"a","when_active":"__proto__"}'],
  ])('%s %.60s', (path, body) => expectRefused('POST', path, body));
});

describe('signed webhooks', () => {
  it.each([
    ['not JSON', '{', {}],
    ['a member twice', '{"a":1,"a":2}', {}],
    ['depth 10,000', deep(10_000), {}],
    ['depth 28', deep(28), {}],
    ['NUL', '{"a":"\\u0000"}', {}],
    ['an array', '[]', {}],
    ['an event name that is none', '{}', { 'x-github-event': '../x' }],
    ['a delivery id that is none', '{}', { 'x-github-delivery': 'x y' }],
    ['a wrong signature', '{}', { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }],
    ['half a signature', '{}', { 'x-hub-signature-256': 'sha256=00' }],
    ['an old signature scheme', '{}', { 'x-hub-signature-256': `sha1=${'0'.repeat(40)}` }],
  ])('%s', async (_, body, headers) => {
    const left = await rowsLeftBy(world.domain, async () => {
      const answer = await callDoor('POST', `${world.domain.running.urls.federation}/webhooks/github/github`, {
        body,
        headers: {
          'x-github-event': 'ping',
          'x-github-delivery': 'h-1',
          'x-hub-signature-256': await sign(secret, body),
          ...headers,
        },
      });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      expect(answer.body.action).toEqual(expect.any(String));
    });
    expect(left).toEqual({});
  });
});
