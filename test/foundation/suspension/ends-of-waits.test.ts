// Waits that end by themselves, that cannot be replayed, and branches of waits, on a real database.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expireSuspensions, replaySuspensions, resolveInputs } from '../../../src/foundation/index.js';
import type { JsonObject } from '../../../src/protocol/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { openWaitingWorld, type WaitingWorld, waiter } from './waiting-world.js';

let test: TestDatabase;
let each: WaitingWorld;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => {
  each = openWaitingWorld(test.database);
});

describe('F14: a wait that expires', () => {
  it('goes on by an input in the log, once, with what it has counted', async () => {
    const { world, waiting, say, shown, letExpire } = each;
    const agent = await waiting({
      until: [{ type: 'w8.a' }, { type: 'w8.b' }],
      resume: 'all',
      expires: { in_ms: 3_600_000 },
    });
    await say('w8.a');
    await world.settle();
    await expireSuspensions(world.parts);
    expect(await world.runs(agent)).toHaveLength(1);
    await letExpire(agent);
    await Promise.all([expireSuspensions(world.parts), expireSuspensions(world.host())]);
    const late = await say('w8.b');
    await world.settle();
    await expireSuspensions(world.parts);
    await world.settle();
    expect(await shown(agent)).toEqual([
      {
        status: 'completed',
        by: 'suspension.expired',
        inputs: ['w8.a', expect.stringContaining('suspension.expired')],
      },
    ]);
    expect(await world.decision(late)).toBe('IGNORE no_candidate');
    const inputs = await test.database.sql<{ id: string; data: JsonObject }[]>`
      select id, data from foundation.inputs where home = ${agent.home} and type = 'suspension.expired'`;
    expect(inputs).toMatchObject([{ data: { partly_matched: 1, depth: 0 } }]);
    expect(await world.decision(inputs[0]?.id ?? '')).toBe('RESUME suspension_expired');
  });

  it('expires when too few of its subscriptions can still be satisfied', async () => {
    const { world, waiting, shown } = each;
    const agent = await waiting({
      until: [{ type: 'w9.a', expires: { in_ms: 0 } }, { type: 'w9.b' }],
      resume: 'all',
    });
    await world.settle();
    expect(await shown(agent)).toMatchObject([{ by: 'suspension.expired' }]);
    const other = await waiting({ until: [{ type: 'w9.a', expires: { in_ms: 0 } }, { type: 'w9.b' }] });
    await world.settle();
    expect(await world.runs(other)).toHaveLength(1);
  });

  it('what was received in time and is in the log still counts; what the expiry has passed does not', async () => {
    const { world, waiting, say, shown, letExpire } = each;
    const terms = { until: [{ type: 'w10.a' }], expires: { in_ms: 3_600_000 } };
    const [inTime, tooLate] = [await waiting(terms), await waiting({ ...terms, until: [{ type: 'w10.b' }] })];
    await say('w10.a');
    await resolveInputs(world.parts);
    await test.database.sql`
      update foundation.suspensions set due_at = hearth_now() where home = ${inTime.home} and status = 'open'`;
    await letExpire(tooLate);
    await say('w10.b');
    await expireSuspensions(world.parts);
    await world.settle();
    expect(await shown(inTime)).toMatchObject([{ by: 'w10.a' }]);
    expect(await shown(tooLate)).toMatchObject([{ by: 'suspension.expired' }]);
  });

  it('BR-43: a cancel between the expiry and its input ends the wait, and the input says so', async () => {
    const { world, waiting, control, letExpire } = each;
    const agent = await waiting({ until: [{ type: 'w11.a' }], expires: { in_ms: 3_600_000 } });
    await control('cancel', agent);
    await letExpire(agent);
    await expireSuspensions(world.parts);
    await world.settle();
    expect(await world.runs(agent)).toHaveLength(1);
    const [expired] = await test.database.sql<{ id: string }[]>`
      select id from foundation.inputs where home = ${agent.home} and type = 'suspension.expired'`;
    expect(await world.decision(expired?.id ?? '')).toBe('IGNORE suspension_consumed');
  });
});

describe('F14: the replay sweep', () => {
  it('passes a wait that cannot be ended, tries it later, and ends the others', async () => {
    const { world, waiting, shown, letExpire } = each;
    const terms = { until: [{ type: 'w14.a' }], expires: { in_ms: 3_600_000 } };
    const agents = [await waiting(terms), await waiting(terms)];
    const [stuck, other] = agents;
    for (const agent of agents) await letExpire(agent);
    await test.database.sql.unsafe(`
      create function public.no_expiry() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger no_expiry before insert on foundation.inputs for each row
        when (new.home = '${stuck?.home}') execute function public.no_expiry()`);
    for (let turn = 0; turn < 2; turn += 1) expect(await expireSuspensions(world.parts)).toBe('idle');
    await test.database.sql.unsafe('drop trigger no_expiry on foundation.inputs; drop function public.no_expiry()');
    const [row] = await test.database.sql`
      select replay_faults, due_at > hearth_now() as later
        from foundation.suspensions
       where home = ${stuck?.home ?? ''} and status = 'open'`;
    expect(row).toEqual({ replayFaults: 1, later: true });
    await world.settle();
    expect(await shown(other as never)).toMatchObject([{ by: 'suspension.expired' }]);
    await letExpire(stuck as never);
    await world.settle();
    expect(await shown(stuck as never)).toMatchObject([{ by: 'suspension.expired' }]);
  });

  it('passes a wait that cannot be replayed, tries it later and later, and serves the others', async () => {
    const { world } = each;
    const script = waiter({ until: [{ type: 'w12.a' }] });
    const agents = [await world.addAgent({ script }), await world.addAgent({ script })];
    const [stuck] = agents;
    const directory = {
      ...world.parts.directory,
      byHome: (sql: never, home: string) =>
        home === stuck?.home ? Promise.reject(new Error('always')) : world.parts.directory.byHome(sql, home),
    };
    for (const { agent } of agents) await world.send({ type: 'wait.begin', target: { agent } });
    await world.settle();
    await test.database.sql`update foundation.suspensions set replayed_at = null where status = 'open'`;
    const host = world.host({ directory });
    for (let turn = 0; turn < 3; turn += 1) expect(await replaySuspensions(host)).toBe('idle');
    const rows = await test.database.sql`
      select replay_faults, replayed_at is null as waits, replay_due_at > hearth_lease_now() as later
        from foundation.suspensions
       where home = any(${agents.map(({ home }) => home)})
       order by replay_faults`;
    expect(rows).toMatchObject([
      { replayFaults: 0, waits: false },
      { replayFaults: 1, waits: true, later: true },
    ]);
  });
});

describe('F8: FORK of a session that waits', () => {
  it('starts from its checkpoint with the new input, without the wait, under a proposal scope of its own', async () => {
    const { world, say, control } = each;
    const until = [{ type: 'w13.a' }];
    const steps = [
      { propose: { id: 'before', action: 'count.once', target: 'x' } },
      { suspend: { reason: 'r', until } },
      { propose: { id: 'after', action: 'count.once', target: 'y' } },
      { complete: { by: { $ref: '/activation/type' }, inputs: [] } },
    ];
    const agent = await world.addAgent({ script: { rules: [{ when: { type: 'wait.begin' }, steps }] } });
    await world.send({ type: 'wait.begin', target: { agent: agent.agent } });
    await world.settle();
    const [original] = await world.runs(agent);
    await control('fork', agent, 'branch.now');
    await world.settle();
    const [, branch] = await world.runs(agent);
    expect(branch).toMatchObject({ status: 'completed', resumedFromRunId: null, result: { by: 'branch.now' } });
    expect(branch?.sessionId).not.toBe(original?.sessionId);
    await say('w13.a');
    await world.settle();
    expect((await world.runs(agent)).map(({ status, result }) => [status, result])).toMatchObject([
      ['suspended', null],
      ['completed', { by: 'branch.now' }],
      ['completed', { by: 'w13.a' }],
    ]);
    const effects = await test.database.sql`
      select target, proposal_scope from foundation.effects where home = ${agent.home} order by created_at`;
    const [own, other] = [original?.sessionId, branch?.sessionId];
    expect(effects.map(({ target, proposalScope }) => [target, proposalScope])).toEqual([
      ['x', own],
      ['y', other],
      ['y', own],
    ]);
  });
});
