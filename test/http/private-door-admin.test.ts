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
    for (const path of ['domain', 'humans', 'sources', 'credentials', 'peers', 'outbox', 'directory']) {
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
