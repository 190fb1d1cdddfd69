// One input and all that it concerns: a disposition for each candidate, one candidate for each agent, and one commit for a
// session with its first run.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveInputs } from '../../../src/foundation/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';
import { faultyDatabase } from './faulty-database.js';

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
  rules: [
    {
      when: { type: 'many.wait' },
      steps: [{ suspend: { reason: 'waits', until: [{ type: 'many.news' }] } }, { complete: 'went on' }],
    },
    { when: { type: 'many.*' }, steps: [{ complete: 'took it' }] },
  ],
};
const news = { kind: 'event', type: 'many.news', subject: { resource: 'r' } } as const;

describe('F3: one event, many candidates', () => {
  it('each has its decision and its run: who waits, who listens, and who may not', async () => {
    const waiter = await world.addAgent({ script });
    const listener = await world.addAgent({ script });
    const twice = await world.addAgent({ script });
    const ended = await world.addAgent({ script, status: 'ended' });
    const busy = await world.addAgent({ script, whenActive: 'project' });
    await world.send({ type: 'many.wait', target: { agent: waiter.agent } });
    await world.send({ type: 'many.wait', target: { agent: busy.agent }, subject: { resource: 'other' } });
    await world.settle();
    await test.database
      .sql`update foundation.subscriptions set subject = 'never' where home = ${busy.home} and owner = 'suspension'`;
    await test.database
      .sql`insert into foundation.session_keys (home, key, session_id) select home, 'subject:r', id from foundation.sessions where home = ${busy.home}`;
    for (const agent of [listener, twice, ended, busy]) await world.subscribe(agent, { type: 'many.news' });
    await world.subscribe(twice, { type: 'many.*' });
    await world.subscribe(twice, { type: 'many.news', subject: 'r' });

    const input = await world.send(news);
    await world.settle();
    const { dispositions, runRefs, activationRefs } = await world.view(input);
    const of = (home: string) => dispositions.filter((disposition) => disposition.home === home);
    expect(of(waiter.home)).toMatchObject([{ decision: 'RESUME', status: 'consumed' }]);
    expect(of(listener.home)).toMatchObject([{ decision: 'ACTIVATE', status: 'consumed' }]);
    expect(of(twice.home)).toMatchObject([{ decision: 'ACTIVATE', status: 'consumed' }]);
    expect(of(ended.home)).toMatchObject([{ decision: 'IGNORE', reason: 'agent_ended', runId: null }]);
    expect(of(busy.home)).toMatchObject([{ decision: 'PROJECT', reason: 'attention_projects_while_suspended' }]);
    expect(dispositions).toHaveLength(5);
    expect(new Set(runRefs).size).toBe(3);
    expect(activationRefs).toHaveLength(3);
    const taken = await Promise.all([waiter, listener, twice].map(async (agent) => (await world.runs(agent)).at(-1)));
    expect(taken.map((run) => run?.id).sort()).toEqual([...runRefs].sort());
    await test.database.sql`update foundation.suspensions set status = 'cancelled' where status = 'open'`;
  });

  it('an agent that waits and listens in one session takes the event once, in two sessions twice', async () => {
    const same = await world.addAgent({ script });
    const apart = await world.addAgent({ script });
    for (const agent of [same, apart]) await world.subscribe(agent, { type: 'many.news' });
    await world.send({ type: 'many.wait', target: { agent: same.agent }, subject: { resource: 'r' } });
    await world.send({ type: 'many.wait', target: { agent: apart.agent }, subject: { resource: 'elsewhere' } });
    await world.settle();
    const input = await world.send(news);
    await world.settle();
    const decisions = async (home: string) =>
      (await world.view(input)).dispositions.filter((each) => each.home === home).map(({ decision }) => decision);
    expect(await decisions(same.home)).toEqual(['RESUME']);
    expect((await decisions(apart.home)).sort()).toEqual(['ACTIVATE', 'RESUME']);
    expect(await world.runs(same)).toHaveLength(2);
    expect(new Set((await world.runs(apart)).map(({ sessionId }) => sessionId)).size).toBe(2);
  });

  it('a second resolving of the same input decides nothing anew', async () => {
    const agent = await world.addAgent({ script });
    await world.subscribe(agent, { type: 'many.news' });
    const input = await world.send(news);
    await world.settle();
    const first = await world.view(input);
    const { position } = first.input;
    await test.database.sql`update foundation.input_log_heads set resolved_position = ${(position ?? 0) - 1}`;
    await world.settle();
    expect(await world.view(input)).toEqual(first);
    expect(await world.runs(agent)).toHaveLength(1);
  });
});

describe('F6: a session and its first run', () => {
  it('are one commit with the candidate that made them', async () => {
    const agent = await world.addAgent({ script });
    await world.send({ type: 'many.news', target: { agent: agent.agent } });
    const counts = async () => {
      const [row] = await test.database.sql`
        select (select count(*) from foundation.sessions where home = ${agent.home}) as sessions,
               (select count(*) from foundation.runs where home = ${agent.home}) as runs,
               (select count(*) from foundation.candidates where home = ${agent.home}) as candidates`;
      return row;
    };
    // The first attempt is all at once, the second one by one: both are struck.
    const struck = { name: 'resolve-inputs', moment: 'before' } as const;
    const first = faultyDatabase(test.database, { ...struck, occurrence: 1 });
    const second = faultyDatabase(first.database, { ...struck, occurrence: 2 });
    await expect(resolveInputs(world.host({ db: second.database }))).rejects.toThrow('resolve-inputs');
    expect(await counts(), 'before').toEqual({ sessions: 0, runs: 0, candidates: 0 });
    const after = faultyDatabase(test.database, { name: 'resolve-inputs', occurrence: 1, moment: 'after' });
    await resolveInputs(world.host({ db: after.database }));
    expect(await counts(), 'after').toEqual({ sessions: 1, runs: 1, candidates: 1 });
    await world.settle();
    expect(await counts()).toEqual({ sessions: 1, runs: 1, candidates: 1 });
  });
});
