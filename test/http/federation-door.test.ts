// The federation door over real HTTP: webhooks as GitHub sends them, and what other domains may read and send.
import { createRequire } from 'node:module';
import type { WebhookDefinition } from '@octokit/webhooks-examples';
import { sign } from '@octokit/webhooks-methods';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callDoor, startTestDomain, type TestDomain } from '../support/test-domain.js';

const definitions: WebhookDefinition[] = createRequire(import.meta.url)('@octokit/webhooks-examples');
const release = JSON.stringify(definitions.find(({ name }) => name === 'release')?.examples[0]);

let domain: TestDomain;
let secret = '';

beforeAll(async () => {
  domain = await startTestDomain();
  const source = await domain.api('POST', '/admin/v1/sources', { body: { name: 'github', adapter: 'github' } });
  secret = source.text('webhook', 'secret');
  expect(source.text('webhook', 'url')).toBe('https://alpha.test/webhooks/github/github');
});

afterAll(() => domain.stop());

interface Delivery {
  body?: string;
  key?: string;
  source?: string;
  headers?: Record<string, string>;
}

async function deliver({ body = release, key = secret, source = 'github', headers = {} }: Delivery) {
  return callDoor('POST', `${domain.running.urls.federation}/webhooks/github/${source}`, {
    body,
    headers: {
      'x-github-event': 'release',
      'x-github-delivery': 'd-1',
      'x-hub-signature-256': await sign(key, body),
      ...headers,
    },
  });
}

async function mailbox(): Promise<unknown[]> {
  const page = await domain.test.database
    .sql`select message_id from home.mailbox_messages where interaction_type like 'github.%'`;
  return [...page];
}

describe('webhooks', () => {
  it('a signed delivery is kept with its mailbox row before it is acknowledged; again, it is the same one (F2, BR-22)', async () => {
    const first = await deliver({});
    expect(first).toMatchObject({ status: 202, body: { duplicate: false } });
    expect((await deliver({})).body).toEqual({ input_id: first.text('input_id'), duplicate: true });
    expect(await mailbox()).toHaveLength(1);
    const read = await domain.api('GET', `/v1/inputs/${first.text('input_id')}`);
    expect(read.body).toMatchObject({
      type: expect.stringMatching(/^github\.release\./),
      principal: 'service://alpha.test/github',
      trust_class: 'untrusted_content',
      subject: { resource: 'github:Codertocat/Hello-World' },
    });
  });

  it('a bad signature stores nothing, and an unknown source is answered in the same words', async () => {
    const before = (await mailbox()).length;
    const forged = await deliver({ key: 'another secret', headers: { 'x-github-delivery': 'd-2' } });
    const unknown = await deliver({ source: 'unknown', headers: { 'x-github-delivery': 'd-3' } });
    expect(forged.status).toBe(401);
    expect({ ...unknown.body, request_id: '' }).toEqual({ ...forged.body, request_id: '' });
    expect(forged.body.detail).toBeUndefined();
    expect(await mailbox()).toHaveLength(before);
  });

  it('what is signed but not strict JSON, not a delivery, a form or too large is refused', async () => {
    expect((await deliver({ body: '{"a":1,"a":2}' })).body).toMatchObject({ status: 400, code: 'malformed_json' });
    expect((await deliver({ headers: { 'x-github-delivery': '' } })).body).toMatchObject({
      status: 400,
      code: 'schema_invalid',
    });
    const form = await deliver({ headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    expect(form.body).toMatchObject({ status: 415, hint: expect.stringContaining('application/json') });
    const limit = 5 * 1024 * 1024;
    const fitting = `{"a":"${'x'.repeat(limit - 8)}"}`;
    expect((await deliver({ body: fitting, headers: { 'x-github-delivery': 'd-4' } })).status).toBe(202);
    expect((await deliver({ body: `${fitting} `, headers: { 'x-github-delivery': 'd-5' } })).status).toBe(413);
  });

  it('a ping is accepted', async () => {
    expect(
      (await deliver({ body: '{"zen":"x"}', headers: { 'x-github-event': 'ping', 'x-github-delivery': 'p-1' } }))
        .status,
    ).toBe(202);
  });
});

describe('what other domains see', () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${domain.running.urls.federation}${path}`, { headers });

  it('the discovery document names the advertised gateway, whatever was dialled', async () => {
    const document = await (await get('/.well-known/agent-federation')).json();
    expect(document).toMatchObject({
      domain: 'alpha.test',
      gateway: 'https://alpha.test',
      bundle: 'https://alpha.test/federation/v1/bundle',
      request_signatures: ['rfc9421'],
      first_contact: 'quarantine',
    });
  });

  it('the bundle is served, and the private door is not here', async () => {
    expect((await get('/federation/v1/bundle')).headers.get('content-type')).toContain('jose+json');
    for (const path of ['/v1/whoami', '/admin/v1/domain']) {
      expect((await get(path, { authorization: `Bearer ${domain.operatorToken}` })).status).toBe(404);
    }
  });

  it('the unsigned public sees only public principals, and a signature that does not hold is 401', async () => {
    await domain.api('POST', '/admin/v1/humans', { body: { name: 'open', visibility: 'public' } });
    await domain.api('POST', '/admin/v1/humans', { body: { name: 'shy', visibility: 'hidden' } });
    const list = await callDoor('GET', `${domain.running.urls.federation}/federation/v1/directory`);
    expect(list.body.items).toMatchObject([{ address: 'human://alpha.test/users/open' }]);
    expect(list.body.items).toHaveLength(1);
    const signed = await get('/federation/v1/directory', { signature: 'fed=:AAAA:', 'signature-input': 'fed=()' });
    expect(signed.status).toBe(401);
  });

  it('an unsigned transaction is 401, and nothing of it is kept', async () => {
    const response = await fetch(
      `${domain.running.urls.federation}/federation/v1/transactions/txn_domain_01m8qch4erz352et9d5zdjdak1`,
      {
        method: 'PUT',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      },
    );
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: expect.any(String), component: expect.any(String) });
    expect(await domain.test.database.sql`select 1 from federation.inbound_transactions`).toHaveLength(0);
  });
});
