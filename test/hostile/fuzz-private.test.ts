// Seeded fuzzers for the webhook and the private door (BR-88): good traffic, broken, from callers whose credentials are good.
import { sign } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { toBase64url } from '../../src/protocol/index.js';
import { callDoor } from '../support/test-domain.js';
import { bob, goodMessageArrives, type HostileWorld, openHostileWorld } from './hostile-world.js';
import { anyChange, anyJson, edits, expectAnswer, fuzzed, fuzzRuns, mutate } from './mutation.js';

let world: HostileWorld;
let secret = '';
const time = fuzzed ? 1_200_000 : 30_000;

beforeAll(async () => {
  world = await openHostileWorld();
  const source = await world.domain.api('POST', '/admin/v1/sources', { body: { name: 'github', adapter: 'github' } });
  secret = source.text('webhook', 'secret');
});
afterEach(async () => {
  await goodMessageArrives(world);
  expect(world.domain.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});
afterAll(() => world.close());

describe('the webhook', () => {
  const post = async (body: Buffer, delivery: string) => {
    const answer = await callDoor('POST', `${world.domain.running.urls.federation}/webhooks/github/github`, {
      body: body.toString('utf8'),
      headers: {
        'x-github-event': 'push',
        'x-github-delivery': delivery,
        'x-hub-signature-256': await sign(secret, body.toString('utf8')),
      },
    });
    expectAnswer(answer.status);
  };
  it(
    'takes any signed bytes and any JSON',
    async () => {
      const good = Buffer.from(
        JSON.stringify({
          action: 'opened',
          repository: { full_name: 'a/b' },
          issue: { number: 7, pull_request: {} },
          organization: { login: 'x' },
        }),
      );
      let n = 0;
      const body = fc.oneof(
        edits.map((changes) => mutate(good, changes)),
        anyChange(['action', 'repository', 'issue', 'pull_request', 'organization']).map((change) =>
          Buffer.from(JSON.stringify(change)),
        ),
      );
      await fc.assert(
        fc.asyncProperty(body, async (bytes) => {
          n += 1;
          if (bytes.toString('utf8') !== '') await post(bytes, `fuzz-${n}`);
        }),
        fuzzRuns(60),
      );
    },
    time,
  );
});

describe('the private door', () => {
  const good: Record<string, object> = {
    '/v1/inputs': {
      kind: 'command',
      type: 'note.x',
      source_event_id: 'f',
      target: { agent: 'bob' },
      subject: { resource: 'r' },
      occurred_at: '2026-01-01T00:00:00Z',
      correlation_id: 'c',
      data: { n: 1 },
    },
    '/v1/messages': {
      to: bob,
      type: 'message',
      body: { text: 'x' },
      conversation_id: 'conv_alpha.test_abc_01m8qch4erz352et9d5zdjdak1',
    },
    '/admin/v1/agents': {
      name: 'z',
      runtime: { id: 'scripted', config: { rules: [{ when: { type: 'a.*' }, steps: [{ complete: 1 }] }] } },
      grants: [{ action: 'a', target: 'b' }],
      subscriptions: [{ type: 'a.b' }],
      attention: { when_active: 'fork' },
    },
    '/admin/v1/humans': { name: 'y', display_name: 'Y', roles: [], visibility: 'peers' },
    '/admin/v1/sources': { name: 's', adapter: 'github' },
    '/admin/v1/credentials': { kind: 'person', principal: 'hana', label: 'l', expires_in_s: 60 },
    '/admin/v1/peers': { domain: 'evil.test', fingerprint: 'A'.repeat(43) },
    '/admin/v1/agents/bob/subscriptions': { type: 'a.b', subject: 's', when_active: 'steer' },
  };
  const paths = Object.keys(good);

  it.each(paths)(
    'takes any bytes and any JSON at %s',
    async (path) => {
      const whole = good[path] ?? {};
      const body = fc.oneof(
        edits.map((changes) => mutate(Buffer.from(JSON.stringify(whole)), changes)),
        anyChange(Object.keys(whole)).map((change) => Buffer.from(JSON.stringify({ ...whole, ...change }))),
        anyJson.map((value) => Buffer.from(JSON.stringify(value))),
      );
      await fc.assert(
        fc.asyncProperty(body, async (bytes) => {
          const response = await fetch(`${world.domain.running.urls.api}${path}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${world.domain.operatorToken}`, 'content-type': 'application/json' },
            body: new Uint8Array(bytes),
          });
          const answer = (await response.json()) as Record<string, unknown>;
          expectAnswer(response.status);
          if (response.status >= 400) expect(answer.action).toEqual(expect.any(String));
        }),
        fuzzRuns(25),
      );
    },
    time,
  );

  it(
    'takes any path, query and cursor',
    async () => {
      const paths = [
        '/v1/runs',
        '/v1/messages',
        '/v1/commitments',
        '/v1/inputs/x',
        '/v1/conversations/x',
        '/v1/runs/x/events',
        '/admin/v1/agents',
        '/admin/v1/humans',
        '/admin/v1/credentials',
        '/admin/v1/sources',
        '/admin/v1/directory',
        '/admin/v1/peers',
        '/admin/v1/outbox',
      ];
      const query = fc.dictionary(
        fc.constantFrom('cursor', 'limit', 'after', 'agent', 'status', 'peer', 'x'),
        fc.oneof(
          fc.string({ maxLength: 12 }),
          fc.uint8Array({ maxLength: 12 }).map(toBase64url),
          fc.constantFrom('0', '1', '200', '201', '9007199254740991', '-1', '\0'),
        ),
        { maxKeys: 3 },
      );
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...paths), query, async (path, asked) => {
          const search = new URLSearchParams(
            Object.entries(asked).map(([name, value]): [string, string] => [name, Buffer.from(value).toString()]),
          );
          const answer = await world.domain.api('GET', `${path}?${search}`);
          expectAnswer(answer.status);
        }),
        fuzzRuns(80),
      );
    },
    time,
  );
});
