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

  it('shows a hundred dispositions with the input, and all of them in pages', async () => {
    const { domain, tokens, settled } = world;
    const send = async (source_event_id: string) => {
      const body = { kind: 'event', type: 'sensor.alarm', source_event_id, data: {} };
      return (await domain.api('POST', '/v1/inputs', { token: tokens.producer, body })).text('input_id');
    };
    const [few, many] = [await send('alarm-2'), await send('alarm-3')];
    const { body } = await settled(many);
    expect(body.more_dispositions).toBe(false);
    await settled(few);
    // As many more as that there are 205, each another way to an agent that is there.
    await domain.running.layers.gateway.db.sql`
      insert into foundation.candidates (
        home, id, tenant, position, input_home, input_id, route, decision, policy_id, reason, status)
      select home, id || '_' || lpad(n::text, 3, '0'), tenant, position, input_home, input_id, 'made:' || n, 'IGNORE', 'p', 'r',
             'settled'
        from (select * from foundation.candidates where input_id = ${many} order by id limit 1) one
       cross join generate_series(1, 202) n`;
    const shown = (await domain.api('GET', `/v1/inputs/${many}`, {})).body;
    expect([(shown.disposition as unknown[]).length, shown.more_dispositions]).toEqual([100, true]);
    const listed = (await domain.api('GET', '/v1/inputs?type=sensor.alarm', {})).body.items as {
      id: string;
      disposition: unknown[];
      more_dispositions: boolean;
    }[];
    const lengths = new Map(
      listed.map(({ id, disposition, more_dispositions: more }) => [id, [disposition.length, more]]),
    );
    expect([lengths.get(few), lengths.get(many)]).toEqual([
      [3, false],
      [100, true],
    ]);
    const ids: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await domain.api(
        'GET',
        `/v1/inputs/${many}/dispositions?limit=60${cursor && `&cursor=${cursor}`}`,
        {},
      );
      ids.push(...(page.body.items as { candidate_id: string }[]).map((item) => item.candidate_id));
      cursor = page.body.next_cursor as string | null;
    }
    expect([ids.length, new Set(ids).size]).toEqual([205, 205]);
    expect((await domain.api('GET', `/v1/inputs/${many}/dispositions`, { token: tokens.bob })).status).toBe(404);
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
