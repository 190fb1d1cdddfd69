// The admin API: for operators, and for people as far as their own agents go.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDomain } from '../support/test-domain.js';
import { echoScript, type PrivateDoorWorld, startPrivateDoorWorld } from './private-door-world.js';

let domain: TestDomain;
let tokens: PrivateDoorWorld['tokens'];

beforeAll(async () => {
  ({ domain, tokens } = await startPrivateDoorWorld());
});

afterAll(() => domain.stop());

describe('administration', () => {
  it('is for operators; a person sees and pauses only its own agents', async () => {
    for (const path of ['domain', 'humans', 'sources', 'credentials', 'peers', 'outbox', 'quarantine', 'directory']) {
      expect([path, (await domain.api('GET', `/admin/v1/${path}`, { token: tokens.ada })).status]).toEqual([path, 403]);
      expect([path, (await domain.api('GET', `/admin/v1/${path}`)).status]).toEqual([path, 200]);
    }
    expect((await domain.api('GET', '/admin/v1/agents', { token: tokens.ada })).body.items).toHaveLength(1);
    expect((await domain.api('GET', '/admin/v1/agents', { token: tokens.bob })).body.items).toHaveLength(0);
    expect((await domain.api('POST', '/admin/v1/agents/echo/pause', { token: tokens.bob })).status).toBe(404);
    expect((await domain.api('POST', '/admin/v1/agents/echo/pause', { token: tokens.ada })).body.status).toBe('paused');
    expect((await domain.api('POST', '/admin/v1/agents/echo/pause', { token: tokens.ada })).status).toBe(409);
    expect((await domain.api('POST', '/admin/v1/agents/echo/resume', { token: tokens.ada })).body.status).toBe(
      'active',
    );
    expect((await domain.api('GET', '/admin/v1/agents', { token: tokens.producer })).status).toBe(403);
  });

  it('an address is given once, and an agent needs an owner, a runtime and a program that fits (D1)', async () => {
    const agent = (more: object) =>
      domain.api('POST', '/admin/v1/agents', {
        body: { name: 'second', runtime: { id: 'scripted', config: echoScript }, ...more },
      });
    expect((await agent({ name: 'echo' })).status).toBe(409);
    expect((await agent({ name: 'Not A Name' })).status).toBe(400);
    expect((await agent({ owner: 'nobody' })).status).toBe(400);
    expect((await agent({ runtime: { id: 'unknown', config: {} } })).status).toBe(400);
    expect((await agent({ runtime: { id: 'scripted', config: { rules: 'none' } } })).status).toBe(400);
    expect((await agent({ role: 'operator' })).status).toBe(400);
    const made = await agent({});
    expect(made.body.agent).toMatchObject({
      agent_id: 'agent://alpha.test/agents/second',
      home_domain: 'alpha.test',
      owner: 'human://alpha.test/users/operator',
      status: 'active',
      placement_lease_id: null,
      key_refs: ['key://alpha.test/agents/second/1'],
    });
  });

  it('subscriptions are added once, listed and ended', async () => {
    const path = '/admin/v1/agents/echo/subscriptions';
    const first = await domain.api('POST', path, { token: tokens.ada, body: { type: 'extra.*' } });
    expect(first.status).toBe(201);
    expect((await domain.api('POST', path, { token: tokens.ada, body: { type: 'extra.*' } })).text('id')).toBe(
      first.text('id'),
    );
    expect((await domain.api('GET', path, { token: tokens.ada })).body.items).toHaveLength(2);
    expect((await domain.api('DELETE', `${path}/${first.text('id')}`, { token: tokens.ada })).status).toBe(204);
    expect((await domain.api('DELETE', `${path}/${first.text('id')}`, { token: tokens.ada })).status).toBe(404);
  });
});

describe('peers as operators decide about them', () => {
  const fingerprint = 'A'.repeat(43);
  const audited = async (action: string) =>
    domain.test.database.sql`select actor, object, outcome from foundation.audit_entries where action = ${action}`;

  it('pinning and blocking are audited with who did it, and a domain never heard of can be blocked', async () => {
    const pinned = await domain.api('POST', '/admin/v1/peers', { body: { domain: 'silent.test', fingerprint } });
    expect(pinned.body).toMatchObject({ relationship: 'pinned', look: { ok: false }, delivery: { queued: 0 } });
    const blocked = await domain.api('POST', '/admin/v1/peers/never.test/block');
    expect(blocked.body).toMatchObject({ domain: 'never.test', relationship: 'blocked' });
    const actor = 'human://alpha.test/users/operator';
    expect(await audited('peer.pin')).toEqual([{ actor, object: 'silent.test', outcome: 'pinned' }]);
    expect(await audited('peer.block')).toEqual([{ actor, object: 'never.test', outcome: 'blocked' }]);
  });

  it('the domain itself is neither pinned anew nor blocked', async () => {
    const pin = { domain: 'alpha.test', fingerprint };
    expect((await domain.api('POST', '/admin/v1/peers', { body: pin })).status).toBe(409);
    expect((await domain.api('POST', '/admin/v1/peers/alpha.test/block')).status).toBe(409);
    expect((await domain.api('GET', '/admin/v1/peers/alpha.test')).body.relationship).toBe('pinned');
  });
});

describe('quarantine', () => {
  const hold = (messageId: string, recipient: string) => domain.test.database.sql`
    insert into federation.quarantine_items
           (peer, message_id, recipient, sender, header, signature, body, bytes, expires_at)
    values ('far.test', ${messageId}, ${recipient}, 'agent://far.test/agents/x', '\\x00', 's', '\\x00', 3,
            hearth_now() + interval '1 day')`;

  it('is listed in pages without what it says, and dropped by message or by domain', async () => {
    for (const recipient of ['a', 'b', 'c']) await hold('msg_1', `agent://alpha.test/agents/${recipient}`);
    await hold('msg_2', 'agent://alpha.test/agents/a');
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const page = await domain.api('GET', `/admin/v1/quarantine?peer=far.test&limit=3${cursor}`);
      expect(page.status).toBe(200);
      seen.push(...(Array.isArray(page.body.items) ? page.body.items : []));
      cursor = typeof page.body.next_cursor === 'string' ? `&cursor=${page.body.next_cursor}` : '';
    } while (cursor !== '');
    expect(seen).toHaveLength(4);
    expect(JSON.stringify(seen)).not.toMatch(/body|header|signature/);
    const path = '/admin/v1/quarantine/far.test';
    expect((await domain.api('DELETE', path, { token: tokens.ada })).status).toBe(403);
    expect((await domain.api('DELETE', `${path}?message_id=msg_1`)).body).toEqual({ domain: 'far.test', dropped: 3 });
    expect((await domain.api('DELETE', path)).body).toEqual({ domain: 'far.test', dropped: 1 });
    expect((await domain.api('DELETE', path)).status).toBe(404);
  });
});

describe('lists', () => {
  it('name the webhook of every source, in whatever order the database sorts names', async () => {
    for (const name of ['hub-b', 'hub.a', 'huba', 'hub'])
      await domain.api('POST', '/admin/v1/sources', { body: { name, adapter: 'github' } });
    const { body } = await domain.api('GET', '/admin/v1/sources');
    const hubs = (Array.isArray(body.items) ? body.items : []).filter((item) => JSON.stringify(item).includes('/hub'));
    expect(hubs).toHaveLength(4);
    for (const hub of hubs) expect(hub).toMatchObject({ webhook: { adapter: 'github' } });
  });

  it('of commitments take a cursor as all others do', async () => {
    expect((await domain.api('GET', '/v1/commitments?limit=1')).body).toEqual({ items: [], next_cursor: null });
    expect((await domain.api('GET', '/v1/commitments?cursor=eA')).body).toMatchObject({
      status: 400,
      code: 'cursor_invalid',
    });
  });
});
