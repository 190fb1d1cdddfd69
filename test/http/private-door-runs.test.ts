// Runs, controls and messages at the private door: what is another principal's looks like nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDomain } from '../support/test-domain.js';
import { noteFor, type PrivateDoorWorld, startPrivateDoorWorld } from './private-door-world.js';

let domain: TestDomain;
let tokens: PrivateDoorWorld['tokens'];
let settled: PrivateDoorWorld['settled'];

beforeAll(async () => {
  ({ domain, tokens, settled } = await startPrivateDoorWorld());
});

afterAll(() => domain.stop());

describe('runs and controls (F19)', () => {
  it("another principal's run looks like one that does not exist (BR-68)", async () => {
    const sent = await domain.api('POST', '/v1/inputs', { token: tokens.ada, body: noteFor('mine-1') });
    const read = await settled(sent.text('input_id'), tokens.ada);
    const run = Array.isArray(read.body.run_refs) ? String(read.body.run_refs[0]) : '';
    const own = await domain.api('GET', `/v1/runs/${run}`, { token: tokens.ada });
    expect(own.body).toMatchObject({
      id: run,
      status: 'completed',
      result: { seen: { n: 1 } },
      agent: 'agent://alpha.test/agents/echo',
      activation_input_id: sent.text('input_id'),
    });
    const random = run.replace(/.{6}$/, '000000');
    for (const path of ['', '/events']) {
      const foreign = await domain.api('GET', `/v1/runs/${run}${path}`, { token: tokens.bob });
      const missing = await domain.api('GET', `/v1/runs/${random}${path}`, { token: tokens.bob });
      expect([foreign.status, { ...foreign.body, request_id: '' }]).toEqual([404, { ...missing.body, request_id: '' }]);
    }
    const control = await domain.api('POST', `/v1/runs/${run}/controls`, {
      token: tokens.bob,
      body: { verb: 'cancel' },
    });
    expect(control.status).toBe(404);
    expect((await domain.api('GET', '/v1/runs', { token: tokens.bob })).body).toEqual({
      items: [],
      next_cursor: null,
      previous_cursor: null,
    });
    expect((await domain.api('GET', `/v1/inputs/${sent.text('input_id')}`, { token: tokens.bob })).status).toBe(404);
  });

  it('a control becomes a control input with its own disposition', async () => {
    const sent = await domain.api('POST', '/v1/inputs', {
      token: tokens.ada,
      body: noteFor('wait-1', { type: 'wait.here', correlation_id: 'w1' }),
    });
    const read = await settled(sent.text('input_id'), tokens.ada);
    const run = Array.isArray(read.body.run_refs) ? String(read.body.run_refs[0]) : '';
    await expect.poll(async () => (await domain.api('GET', `/v1/runs/${run}`)).body.status).toBe('suspended');
    const control = { verb: 'cancel', control_id: 'once' };
    const answer = await domain.api('POST', `/v1/runs/${run}/controls`, { token: tokens.ada, body: control });
    expect(answer.status).toBe(202);
    const again = await domain.api('POST', `/v1/runs/${run}/controls`, { token: tokens.ada, body: control });
    expect(again.body).toEqual({ input_id: answer.text('input_id'), duplicate: true });
    const control_input = await settled(answer.text('input_id'), tokens.ada);
    expect(control_input.body).toMatchObject({
      kind: 'control',
      type: 'control.cancel',
      control: { verb: 'cancel', authority: 'human://alpha.test/users/ada' },
    });
    expect(control_input.body.disposition).toHaveLength(1);
  });

  it('lists come in pages that neither lose nor repeat', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page = await domain.api('GET', `/v1/runs?limit=2${query}`);
      const items = Array.isArray(page.body.items) ? page.body.items : [];
      expect(items.length).toBeLessThanOrEqual(2);
      seen.push(...items.map((item) => JSON.stringify(item)));
      cursor = typeof page.body.next_cursor === 'string' ? page.body.next_cursor : null;
    } while (cursor !== null);
    const all = await domain.api('GET', '/v1/runs?limit=200');
    expect(seen).toEqual((Array.isArray(all.body.items) ? all.body.items : []).map((item) => JSON.stringify(item)));
    expect((await domain.api('GET', '/v1/runs?limit=201')).status).toBe(400);
    expect((await domain.api('GET', '/v1/runs?unknown=1')).status).toBe(400);
  });
});

describe('messages', () => {
  it('a person writes to an agent of its own domain through the same door as any peer, once per key', async () => {
    const send = () =>
      domain.api('POST', '/v1/messages', {
        token: tokens.ada,
        headers: { 'idempotency-key': 'hello-1' },
        body: { to: 'agent://alpha.test/agents/echo', type: 'message', body: { text: 'hello' } },
      });
    const first = await send();
    expect([first.status, first.body.status]).toEqual([202, 'succeeded']);
    expect((await send()).body).toEqual(first.body);
    const received = async () => (await domain.api('GET', '/v1/messages?agent=echo', { token: tokens.ada })).body.items;
    await expect.poll(received, { timeout: 15_000 }).toMatchObject([
      {
        direction: 'in',
        sender: 'human://alpha.test/users/ada',
        interaction_type: 'message',
        body: { text: 'hello' },
      },
    ]);
    const conversation = await domain.api('GET', `/v1/conversations/${first.text('result', 'conversation_id')}`, {
      token: tokens.ada,
    });
    expect(conversation.body).toMatchObject({
      created_by: 'human://alpha.test/users/ada',
      creating_domain: 'alpha.test',
    });
    expect(
      (await domain.api('GET', `/v1/conversations/${first.text('result', 'conversation_id')}`, { token: tokens.bob }))
        .status,
    ).toBe(404);
    const delivered = async () => (await domain.api('GET', '/admin/v1/outbox?status=delivered')).body.items;
    await expect
      .poll(delivered)
      .toMatchObject([{ peer: 'alpha.test', message_id: first.text('result', 'message_id') }]);
  });

  it('the same key for something else, an unknown peer and a malformed body are told apart', async () => {
    const send = (more: object, key = 'hello-2') =>
      domain.api('POST', '/v1/messages', {
        token: tokens.ada,
        headers: { 'idempotency-key': key },
        body: { to: 'agent://alpha.test/agents/echo', type: 'message', body: { text: 'one' }, ...more },
      });
    expect((await send({})).status).toBe(202);
    expect((await send({ body: { text: 'two' } })).body).toMatchObject({ status: 409, code: 'idempotency_conflict' });
    expect((await send({ to: 'agent://unknown.test/agents/x' }, 'k3')).body).toMatchObject({
      status: 409,
      reason: 'peer_unknown',
    });
    expect((await send({ body: { words: 'x' } }, 'k4')).status).toBe(400);
    expect((await send({ to: 'nobody' }, 'k5')).status).toBe(400);
  });
});
