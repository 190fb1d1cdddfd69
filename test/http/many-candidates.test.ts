// What GET /v1/inputs/{id} tells of an input that concerns many.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { echoScript, type PrivateDoorWorld, startPrivateDoorWorld } from './private-door-world.js';

let world: PrivateDoorWorld;

beforeAll(async () => {
  world = await startPrivateDoorWorld();
});
afterAll(() => world.domain.stop());

describe('F3: an event that several agents listen to', () => {
  it('shows a disposition and a run for each agent, and one for an agent that listens twice', async () => {
    const { domain, tokens, settled } = world;
    const subscribed = {
      one: [{ type: 'sensor.alarm' }],
      twice: [{ type: 'sensor.alarm' }, { type: 'sensor.*' }],
      // Attention that says how its lane works; the wire says it back.
      lane: [{ type: 'sensor.*' }],
    };
    for (const [name, subscriptions] of Object.entries(subscribed)) {
      const created = await domain.api('POST', '/admin/v1/agents', {
        body: {
          name,
          owner: 'ada',
          runtime: { id: 'scripted', config: echoScript },
          subscriptions,
          ...(name === 'lane' ? { attention: { lane_order: 'priority', merge_window_ms: 50 } } : {}),
        },
      });
      expect(created.status).toBe(201);
      expect(created.body.agent).toMatchObject({
        attention:
          name === 'lane'
            ? { when_active: 'enqueue', lane_order: 'priority', merge_window_ms: 50 }
            : { when_active: 'enqueue', lane_order: 'arrival', merge_window_ms: 0 },
      });
    }
    const sent = await domain.api('POST', '/v1/inputs', {
      token: tokens.producer,
      body: { kind: 'event', type: 'sensor.alarm', source_event_id: 'alarm-1', data: {}, priority: 'urgent' },
    });
    const read = await settled(sent.text('input_id'));
    const dispositions = read.body.disposition as { decision: string; status: string; run_id: string; agent: string }[];
    expect(dispositions.map(({ decision, status }) => `${decision} ${status}`)).toEqual(
      Array.from({ length: 3 }, () => 'ACTIVATE consumed'),
    );
    expect(new Set(dispositions.map((each) => each.run_id)).size).toBe(3);
    expect(read.body.run_refs).toHaveLength(3);
    expect(read.body.activation_refs).toHaveLength(3);
  });

  it('events that come while a lane is held end in one run, begun by the loops alone', async () => {
    const { domain, tokens, settled } = world;
    const created = await domain.api('POST', '/admin/v1/agents', {
      body: {
        name: 'merging',
        owner: 'ada',
        runtime: { id: 'scripted', config: echoScript },
        attention: { merge_window_ms: 600 },
        subscriptions: [{ type: 'wait.news' }],
      },
    });
    expect(created.status).toBe(201);
    const happen = async (n: number) => {
      const body = {
        kind: 'event',
        type: 'wait.news',
        source_event_id: `news-${n}`,
        subject: { resource: 'n' },
        data: n,
      };
      return (await domain.api('POST', '/v1/inputs', { token: tokens.producer, body })).text('input_id');
    };
    const first = await happen(0);
    await settled(first);
    const others = [await happen(1), await happen(2)];
    await domain.api('POST', '/v1/inputs', {
      token: tokens.producer,
      body: { kind: 'event', type: 'answer.given', source_event_id: 'answer', data: {} },
    });
    const shown = await Promise.all(others.map((id) => settled(id)));
    const runs = shown.map(({ body }) => body.run_refs);
    expect(runs[0]).toHaveLength(1);
    expect(runs[1]).toEqual(runs[0]);
  });
});
