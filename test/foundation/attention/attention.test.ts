// D16 on a real database: what attention decides is what happens, and is written at the candidate.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Ingress } from '../../../src/foundation/index.js';
import { type AgentDefinition, resolveInputs } from '../../../src/foundation/index.js';
import type { JsonObject } from '../../../src/protocol/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => {
  world = openFoundationWorld(test.database);
});

const script = { rules: [{ when: { type: 'att.*' }, steps: [{ complete: 1 }] }] };

async function attentive(type: string, attention: Partial<AgentDefinition['attention']>): Promise<AgentDefinition> {
  const agent = await world.addAgent({ script, attention });
  await world.subscribe(agent, { type });
  return agent;
}

const tell = (type: string, over: JsonObject = {}, ingress: Partial<Ingress> = {}) =>
  world.send({ kind: 'event', type, ...over }, ingress);

describe('D16: attention before the decision', () => {
  it('the verdict, its policy, reason and weights are kept with the candidate; the decision stays one of eight', async () => {
    const agent = await attentive('att.a', {});
    const input = await tell('att.a');
    await world.settle();
    const [candidate] = await test.database.sql`
      select decision, policy_id, attention from foundation.candidates where home = ${agent.home} and input_id = ${input}`;
    expect(candidate).toMatchObject({
      decision: 'ACTIVATE',
      policyId: 'activation.event-attention',
      attention: { verdict: 'wake', policy_id: 'attention.default', reason: 'event_signal', weights: { trust: 1 } },
    });
  });

  it('an agent is woken as often as its budget says, and by what is urgent all the same; a new window is new', async () => {
    const agent = await attentive('att.b', { budget: { wakes: 2, windowMs: 3_600_000 } });
    const inputs: string[] = [];
    for (let count = 0; count < 3; count += 1) inputs.push(await tell('att.b'));
    const urgent = await tell('att.b', {}, { priority: 'urgent' });
    await world.settle();
    const decisions = await Promise.all(inputs.map((id) => world.decision(id)));
    expect(decisions).toEqual(['ACTIVATE event_subscribed', 'ACTIVATE event_subscribed', 'PROJECT budget_spent']);
    expect(await world.decision(urgent)).toBe('ACTIVATE event_subscribed');
    await test.database.sql`
      update foundation.candidates set decided_at = decided_at - interval '2 hours' where home = ${agent.home}`;
    const later = await tell('att.b');
    await world.settle();
    expect(await world.decision(later)).toBe('ACTIVATE event_subscribed');
  });

  it('a key that waits in the lane, or was taken within the window, is a duplicate; of another principal it is none', async () => {
    const agent = await attentive('att.c', { duplicateWindowMs: 60_000 });
    const subject = { resource: `c:${agent.home}` };
    const keyed = { subject, idempotency_key: 'k' };
    const first = await tell('att.c', keyed);
    await resolveInputs(world.parts);
    const seen = await tell('att.c', keyed);
    const foreign = await tell('att.c', keyed, { principal: 'service://alpha.test/services/other' });
    const unkeyed = await tell('att.c', { subject });
    await resolveInputs(world.parts);
    await test.database.sql`
      update foundation.candidates set decided_at = decided_at - interval '1 hour' where home = ${agent.home}`;
    const waiting = await tell('att.c', keyed, { principal: 'service://alpha.test/services/other' });
    await resolveInputs(world.parts);
    await world.settle();
    const passed = await tell('att.c', keyed);
    await world.settle();
    const told = await Promise.all([first, seen, foreign, unkeyed, waiting, passed].map((id) => world.decision(id)));
    expect(told).toEqual([
      'ACTIVATE event_subscribed',
      'IGNORE duplicate_seen',
      'ENQUEUE session_active',
      'ENQUEUE session_active',
      'IGNORE duplicate_waiting',
      'ACTIVATE event_subscribed',
    ]);
  });

  it('a stranger’s untrusted content, a stale event and a far deadline do as the agent says; a forged urgency does nothing', async () => {
    await attentive('att.d', { strangers: 'ignore', staleAfterMs: 60_000, urgentWithinMs: 60_000 });
    const old = { occurred_at: '2001-01-01T00:00:00Z' };
    const soon = world.parts.clock.now();
    const stranger = await tell('att.d', {}, { relationship: 'stranger' });
    const stale = await tell('att.d', { ...old, data: { priority: 'urgent', due_at: soon.toISOString() } });
    const due = await tell('att.d', old, { dueAt: soon });
    await world.settle();
    expect(await world.decision(stranger)).toBe('IGNORE untrusted_stranger');
    expect(await world.decision(stale)).toBe('PROJECT stale');
    expect(await world.decision(due)).toBe('ACTIVATE event_subscribed');
  });

  it('its owner’s command is not weighed, nor is what a wait is about', async () => {
    const waits = {
      rules: [
        {
          when: { type: 'att.wait' },
          steps: [{ suspend: { reason: 'r', until: [{ type: 'att.e' }] } }, { complete: 2 }],
        },
      ],
    };
    const agent = await world.addAgent({ script: waits, attention: { leastWorth: 100 } });
    await world.send({ type: 'att.wait', target: { agent: agent.agent } }, { relationship: 'own' });
    await world.settle();
    const event = await tell('att.e');
    await world.settle();
    expect(await world.decision(event)).toBe('RESUME suspension_matched');
  });

  it('what others want of an agent is weighed as what it listens to: a budget, a duplicate, a stranger, its worth', async () => {
    const script = { rules: [{ when: { type: 'att.*' }, steps: [{ complete: 1 }] }] };
    const ask = async (attention: Partial<AgentDefinition['attention']>, ingress: Partial<Ingress>[], key?: string) => {
      const agent = await world.addAgent({ script, attention });
      const sent: string[] = [];
      for (const each of ingress) {
        const input = { type: 'att.f', target: { agent: agent.agent }, ...(key ? { idempotency_key: key } : {}) };
        sent.push(await world.send(input, each));
        await world.settle();
      }
      return Promise.all(sent.map((id) => world.decision(id)));
    };
    const hour = 3_600_000;
    expect(await ask({ budget: { wakes: 1, windowMs: hour } }, [{}, {}, { relationship: 'own' }])).toEqual([
      'ACTIVATE command',
      'PROJECT budget_spent',
      'ACTIVATE command',
    ]);
    expect(await ask({ duplicateWindowMs: hour }, [{}, {}], 'again')).toEqual([
      'ACTIVATE command',
      'IGNORE duplicate_seen',
    ]);
    expect(await ask({ strangers: 'ignore' }, [{ relationship: 'stranger' }, {}])).toEqual([
      'IGNORE untrusted_stranger',
      'ACTIVATE command',
    ]);
    expect(await ask({ leastWorth: 100 }, [{}, { relationship: 'own' }])).toEqual([
      'PROJECT not_worth_it',
      'ACTIVATE command',
    ]);
  });

  it('time, goals and the domain itself wake an agent that has not subscribed, and are weighed by where they come from', async () => {
    const agent = await world.addAgent({
      script: { rules: [] },
      attention: { budget: { wakes: 3, windowMs: 3_600_000 } },
    });
    const sign = (source: string, type: string) =>
      world.send({ kind: 'event', type, target: { agent: agent.agent } }, { source, relationship: 'own' });
    const signs = [
      await sign('hearth://schedule', 'heartbeat.due'),
      await sign('hearth://schedule', 'deadline.approaching'),
      await sign('hearth://foundation', 'run.completed'),
      await sign('hearth://schedule', 'lease.expiring'),
      await sign('https://source.test', 'goal.reached'),
    ];
    await world.settle();
    expect(await Promise.all(signs.map((id) => world.decision(id)))).toEqual([
      'ACTIVATE event_attended',
      'ACTIVATE event_attended',
      'ACTIVATE event_attended',
      'PROJECT budget_spent',
      'PROJECT event_not_subscribed',
    ]);
    const rows = await test.database.sql<{ reason: string | null }[]>`
      select attention ->> 'reason' as reason from foundation.candidates where home = ${agent.home} order by position`;
    expect(rows.map(({ reason }) => reason)).toEqual([
      'time_signal',
      'goal_signal',
      'state_signal',
      'budget_spent',
      null,
    ]);
  });
});
