// Two tenants of one domain who use the same names for everything: whatever either sends, the other never hears of it.
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AgentDefinition, controlVerbs, listRuns, readInput, readRun } from '../../../src/foundation/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;
let agents: Record<Tenant, AgentDefinition>;
type Tenant = (typeof tenants)[number];

const tenants = ['red', 'blue'] as const;
const script = {
  rules: [
    {
      when: { type: 'shared.wait' },
      steps: [{ suspend: { reason: 'waits', until: [{ type: 'shared.answer' }] } }, { complete: 'went on' }],
    },
    { when: { type: 'shared.*' }, steps: [{ complete: 'took it' }] },
  ],
};
const doors = { red: 'reddoor', blue: 'bluedoor' };

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  world = openFoundationWorld(test.database);
  const made = [];
  for (const tenant of tenants) {
    const agent = await world.addAgent({ script, tenant });
    await world.subscribe(agent, { type: 'shared.*' });
    made.push([tenant, agent]);
  }
  agents = Object.fromEntries(made);
});

async function send(tenant: Tenant, input: Parameters<FoundationWorld['send']>[0], control?: string) {
  const verb = controlVerbs.find((each) => each === control);
  return world.send(input, {
    tenant,
    home: doors[tenant],
    ...(verb === undefined ? {} : { control: { verb, authority: 'human://alpha.test/users/u' } }),
  });
}

/** Rows that mix tenants, of every kind. */
async function crossings(): Promise<unknown> {
  const homes = [agents.red.home, agents.blue.home];
  return test.database.sql`
    with owners as (
      select * from (values (${agents.red.home}, 'red'), (${agents.blue.home}, 'blue')) owners (home, tenant)
    )
    select 'candidate' as what, c.id
      from foundation.candidates c
      join foundation.inputs i on i.home = c.input_home and i.id = c.input_id
      left join owners o on o.home = c.home
      left join foundation.sessions s on s.home = c.home and s.id = c.session_id
      left join foundation.runs r on r.home = c.home and r.id = c.run_id
     where c.tenant <> i.tenant or o.tenant <> i.tenant or s.tenant <> i.tenant or r.tenant <> i.tenant
     union all
    select 'run', r.id
      from foundation.runs r join foundation.sessions s on s.home = r.home and s.id = r.session_id
      join owners o on o.home = r.home
     where r.tenant <> s.tenant or o.tenant <> r.tenant
     union all
    select 'subscription', id
      from foundation.subscriptions join owners o using (home)
     where foundation.subscriptions.tenant <> o.tenant
     union all
    select 'suspension', id
      from foundation.suspensions join owners o using (home)
     where foundation.suspensions.tenant <> o.tenant
     union all
    select 'state', e.resource
      from foundation.environment_states e join owners o on o.home = e.home
      join foundation.inputs i on i.id = e.input_id
     where e.home = any(${homes}) and i.tenant <> o.tenant`;
}

const sent = fc.record({
  tenant: fc.constantFrom(...tenants),
  kind: fc.constantFrom('command' as const, 'event' as const, 'context' as const, 'control' as const),
  type: fc.constantFrom('shared.wait', 'shared.answer', 'shared.work'),
  to: fc.constantFrom('agent', 'session', 'run', 'none'),
  /** Whose agent, session or run it names. */
  whose: fc.constantFrom(...tenants),
  verb: fc.constantFrom(...controlVerbs),
  subject: fc.option(fc.constantFrom('s1', 's2'), { nil: undefined }),
  correlated: fc.boolean(),
  conversation: fc.boolean(),
});

describe('F1: a tenant is never crossed', () => {
  it('by any input, whatever it names: agents, sessions, runs, subjects, conversations, correlations, waits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: 6, maxLength: 14, size: 'max' }), async (inputs) => {
        for (const each of inputs) {
          const runs = await world.runs(agents[each.whose]);
          const last = runs.at(-1);
          const target = {
            ...(each.to === 'agent' ? { agent: agents[each.whose].agent } : {}),
            ...(each.to === 'session' && last ? { session: last.sessionId } : {}),
            ...(each.to === 'run' && last ? { run: last.id } : {}),
            ...(each.conversation ? { conversation_id: 'conv_shared' } : {}),
          };
          const body = {
            kind: each.kind,
            type: each.type,
            target,
            ...(each.subject === undefined ? {} : { subject: { resource: each.subject } }),
            ...(each.correlated ? { correlation_id: 'correlation' } : {}),
          };
          const other = each.tenant === 'red' ? 'blue' : 'red';
          const before = await world.runs(agents[other]);
          const id = await send(each.tenant, body, each.kind === 'control' ? each.verb : undefined);
          await world.settle();
          expect(await world.runs(agents[other])).toEqual(before);
          expect(await readInput(test.database.sql, id, { caller: { tenant: other, homes: 'all' } })).toBeUndefined();
          if (each.whose === other && (each.to === 'session' || each.to === 'run') && last && each.kind === 'control') {
            const seen = await readInput(test.database.sql, id, { caller: { tenant: each.tenant, homes: 'all' } });
            expect(seen?.dispositions).toMatchObject([{ decision: 'IGNORE', reason: 'unknown_target' }]);
          }
        }
        expect(await crossings()).toEqual([]);
      }),
      { seed: 5, numRuns: process.env.HEARTH_TEST_LONG ? 300 : 15 },
    );
  }, 600_000);

  it('by any query: inputs, runs and lists of runs are those of the caller’s tenant', async () => {
    const { sql } = test.database;
    for (const tenant of tenants) await send(tenant, { type: 'shared.work', target: { agent: agents[tenant].agent } });
    await world.settle();
    for (const tenant of tenants) {
      const other = tenant === 'red' ? 'blue' : 'red';
      const [run] = await world.runs(agents[other]);
      for (const homes of ['all' as const, [agents[other].home, agents[tenant].home]]) {
        const caller = { tenant, homes };
        expect(await readRun(sql, run?.id ?? '', { caller })).toBeUndefined();
        const listed = await listRuns(sql, { caller, range: { limit: 100 } });
        const rows = listed.kind === 'rows' ? listed.rows : [];
        expect(rows.length).toBeGreaterThan(0);
        expect(new Set(rows.map((each) => each.tenant))).toEqual(new Set([tenant]));
      }
    }
  });
});
