// Commands that begin together end up as they would one by one.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentDefinition, type AgentInput, resolveInputs, startRuns } from '../../../src/foundation/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;
let worlds = 0;

beforeAll(async () => {
  test = await createTestDatabase();
  world = openFoundationWorld(test.database);
});
afterAll(() => test.drop());

const script = {
  rules: [
    {
      when: { type: 'plain.wait' },
      steps: [{ suspend: { reason: 'waits', until: [{ type: 'plain.answer' }] } }, { complete: 'answered' }],
    },
    { when: { type: 'plain.work' }, steps: [{ complete: 'worked' }] },
  ],
};

interface Sent {
  to: 'busy' | 'other' | 'ended' | 'nobody';
  kind: 'command' | 'event' | 'context';
  type: 'plain.work' | 'plain.answer';
  conversation?: number | undefined;
  subject?: number | undefined;
  historical: boolean;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  to: fc.constantFrom('busy', 'busy', 'other', 'ended', 'nobody'),
  kind: fc.constantFrom('command', 'command', 'command', 'event', 'context'),
  type: fc.constantFrom('plain.work', 'plain.work', 'plain.work', 'plain.answer'),
  conversation: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  subject: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  historical: fc.integer({ min: 0, max: 7 }).map((drawn) => drawn === 0),
});

/** What became of each input, with its sessions numbered as they come up. */
async function outcomes(given: readonly Sent[], apart: boolean) {
  worlds += 1;
  const tenant = `plain${worlds}`;
  const add = (status: AgentDefinition['status'] = 'active') => world.addAgent({ script, tenant, status });
  const agents = { busy: await add(), other: await add(), ended: await add('ended') };
  const ingress = { tenant, home: `door${worlds}` };
  await world.send({ type: 'plain.wait', target: { agent: agents.busy.agent } }, ingress);
  await world.settle();
  const ids: string[] = [];
  for (const each of given) {
    const input: Partial<AgentInput> = {
      kind: each.kind,
      type: each.type,
      target: {
        agent: each.to === 'nobody' ? 'agent://alpha.test/agents/nobody' : agents[each.to].agent,
        ...(each.conversation === undefined ? {} : { conversation_id: `conversation-${each.conversation}` }),
      },
      ...(each.subject === undefined ? {} : { subject: { resource: `subject-${each.subject}` } }),
    };
    ids.push(
      await world.send(input, { ...ingress, ...(each.historical ? { trustClass: 'historical_evidence' } : {}) }),
    );
  }
  await resolveInputs(apart ? oneByOne() : world.parts);
  const rows = await test.database.sql<
    {
      inputId: string;
      route: string;
      decision: string;
      reason: string;
      sessionId: string | null;
      state: string | null;
    }[]
  >`
    select c.input_id, split_part(c.route, ':', 1) as route, c.decision, c.reason, c.session_id,
           s.state || ' ' || coalesce(r.status, '') as state
      from foundation.candidates c
      left join foundation.sessions s on s.home = c.home and s.id = c.session_id
      left join foundation.runs r on r.home = c.home and r.id = c.run_id and r.id = s.active_run_id
     where c.input_id = any(${ids})
     order by c.position, c.route`;
  const sessions = [...new Set(rows.map(({ sessionId }) => sessionId))];
  const found = rows.map(({ inputId, sessionId, ...row }) => ({
    input: ids.indexOf(inputId),
    session: sessions.indexOf(sessionId),
    ...row,
  }));
  const keys = await test.database.sql`
    select key, ${sessions}::text[] @> array[session_id] as used
      from foundation.session_keys
     where home = any(${Object.values(agents).map(({ home }) => home)})
     order by key, used`;
  return { found, keys: keys.map(({ key, used }) => `${key} ${used}`) };
}

/** Its first commit fails, so that the batch is decided on input by input. */
function oneByOne() {
  let failed = false;
  return world.host({
    db: {
      ...test.database,
      transact: (name, work, options) =>
        test.database.transact(
          name,
          async (tx) => {
            const done = await work(tx);
            if (name === 'resolve-inputs' && !failed) {
              failed = true;
              throw new Error('once');
            }
            return done;
          },
          options,
        ),
    },
  });
}

describe('plain commands (F5, F6)', () => {
  it('any batch leads to the same decisions, sessions and runs together as one by one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 12 }), async (given) => {
        expect(await outcomes(given, false)).toEqual(await outcomes(given, true));
      }),
      { numRuns: process.env.HEARTH_TEST_LONG ? 500 : 20 },
    );
  }, 600_000);

  it('commands of one conversation in one batch share a session, and the second waits for the first', async () => {
    const agent = await world.addAgent({ script });
    const target = { agent: agent.agent, conversation_id: 'shared' };
    const ids = [await world.send({ target }), await world.send({ target })];
    await resolveInputs(world.parts);
    expect(await Promise.all(ids.map((id) => world.decision(id)))).toEqual([
      'ACTIVATE command',
      'ENQUEUE session_active',
    ]);
    await startRuns(world.parts);
    await world.parts.live.idle();
    await world.settle();
    const sessions = await test.database.sql`select 1 from foundation.sessions where home = ${agent.home}`;
    expect(sessions).toHaveLength(1);
    expect((await world.runs(agent)).map(({ status }) => status)).toEqual(['completed', 'completed']);
  });
});
