// What a run has come to is recorded although its connections are lost, or its transactions are to be run again.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FoundationParts, resolveInputs, startRuns } from '../../../src/foundation/index.js';
import type { Database } from '../../../src/platform/index.js';
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

const script = {
  rules: [{ when: { type: 'test.work' }, steps: [{ say: 'at work' }, { complete: { $ref: '/activation/data' } }] }],
};

/** Its transactions of a name are lost twice: first before the commit, then after it. */
function losing(name: string, code: string) {
  let faults = 0;
  const transact: Database['transact'] = async (given, work, options) => {
    if (!given.startsWith(name) || faults === 2) return test.database.transact(given, work, options);
    faults += 1;
    if (faults === 2) await test.database.transact(given, work, options);
    throw Object.assign(new Error('gone'), { code });
  };
  return { host: world.host({ db: { ...test.database, transact } }), faults: () => faults };
}

async function drive(host: FoundationParts): Promise<void> {
  await resolveInputs(host);
  await startRuns(host);
  await host.live.idle();
}

describe('F6, F7, F12: a database that goes away for a moment', () => {
  it('costs a run that ends nothing: it is settled once it is back', async () => {
    const agent = await world.addAgent({ script });
    await world.send({ target: { agent: agent.agent }, data: 'kept' });
    const { host, faults } = losing('settle-run', 'CONNECTION_CLOSED');
    await drive(host);
    expect(faults()).toBe(2);
    expect(await world.runs(agent)).toMatchObject([{ status: 'completed', result: 'kept', attempt: 1 }]);
    const ignored = await test.database.sql`
      select 1 from foundation.audit_entries where home = ${agent.home} and outcome = 'ignored'`;
    expect(ignored).toEqual([]);
  });

  it.each([
    ['keep-run-event', 'CONNECTION_CLOSED'],
    ['keep-run-event', '40P01'],
    ['effect-intent', 'CONNECTION_CLOSED'],
    ['effect-settle', '40P01'],
  ])('%s that meets %s is done again: each event stands once, the effect is done once', async (name, code) => {
    const steps = [
      { say: 'one' },
      { say: 'one' },
      { propose: { id: 'e', action: 'count.once', target: 'x' } },
      { complete: 'done' },
    ];
    const agent = await world.addAgent({ script: { rules: [{ when: { type: 'test.*' }, steps }] } });
    await world.send({ target: { agent: agent.agent } });
    const { host, faults } = losing(name, code);
    await drive(host);
    expect(faults()).toBe(2);
    const [run, ...others] = await world.runs(agent);
    expect(others).toEqual([]);
    expect(run).toMatchObject({ status: 'completed', result: 'done', attempt: 1 });
    const events = await world.events(run?.id ?? '');
    expect(events.filter((type) => type === 'output')).toHaveLength(2);
    expect([...world.dispatched.values()]).toEqual([1]);
  });
});
