// Events that wait beside each other in a lane and become one run.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { laneLimits, openLanes, startRuns } from '../../../src/foundation/index.js';
import { openDatabase } from '../../../src/platform/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { killedAt } from '../../support/foundation-world.js';
import { busyLane } from './lane-world.js';
import { releaseHeld } from './recording-runtime.js';

const windowMs = 5 * 60_000;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

describe('F3, F9: a merge window', () => {
  it('events of one type and subject that wait behind a run become one run, with a disposition each', async () => {
    const { world, agent, happen, release, shown, passWindows } = await busyLane(test.database, {
      mergeWindowMs: windowMs,
    });
    const events = [await happen(1), await happen(2), await happen(3)];
    await release();
    expect(await shown()).toEqual([]);
    await passWindows();
    await world.settle();
    expect(await shown()).toEqual([[1, 2, 3]]);
    const [, run] = await world.runs(agent);
    for (const [index, event] of events.entries()) {
      expect(await world.view(event)).toMatchObject({
        dispositions: [
          {
            decision: 'ENQUEUE',
            reason: index === 0 ? 'session_active' : 'merged',
            status: 'consumed',
            runId: run?.id,
          },
        ],
        runRefs: [run?.id],
      });
    }
    const [bundle] = await test.database
      .sql`select data from foundation.run_events where run_id = ${run?.id ?? ''} and type = 'context.bundle'`;
    expect(bundle?.data.activation_input_refs).toEqual(events);
  });

  it('without a window nothing merges, and nothing waits', async () => {
    const { happen, release, shown } = await busyLane(test.database, {});
    for (const n of [1, 2, 3]) await happen(n);
    await release();
    expect(await shown()).toEqual([[1], [2], [3]]);
  });

  it('the first event of an idle session runs at once; what comes while its lane is held joins it, in order', async () => {
    const { world, work, happen, release, shown, passWindows } = await busyLane(test.database, {
      mergeWindowMs: windowMs,
    });
    await happen(1);
    await release();
    const joined = await happen(2);
    const command = await work('after');
    await world.settle();
    expect(await world.decision(joined)).toBe('ENQUEUE lane_held');
    expect(await world.decision(command)).toBe('ENQUEUE lane_held');
    expect(await shown()).toEqual([]);
    await passWindows();
    await world.settle();
    expect(await shown()).toEqual([[1, 2], ['after']]);
    const again = await happen(3);
    await world.settle();
    expect(await world.decision(again)).toBe('ACTIVATE event_subscribed');
  });

  it('merges neighbours only, so that the order of the session is that of the log', async () => {
    const { begin, work, happen, release, shown, passWindows } = await busyLane(test.database, {
      mergeWindowMs: windowMs,
    });
    await happen(1);
    await happen(2);
    await happen('other type', { type: 'test.other' });
    await happen(3);
    await work('command');
    await happen(4);
    await happen(5);
    await begin();
    await passWindows();
    await release();
    expect(await shown()).toEqual([[1, 2], ['other type'], [3], ['command'], [4, 5]]);
  });

  it('takes 32 inputs into one run and leaves the 33rd; a full merge waits for no window', async () => {
    const { world, happen, release, shown, passWindows } = await busyLane(test.database, { mergeWindowMs: windowMs });
    for (let n = 1; n <= laneLimits.merged + 1; n += 1) await happen(n);
    await release();
    const all = Array.from({ length: laneLimits.merged + 1 }, (_, n) => n + 1);
    expect(await shown()).toEqual([all.slice(0, -1)]);
    await passWindows();
    await world.settle();
    expect(await shown()).toEqual([all.slice(0, -1), [laneLimits.merged + 1]]);
  });

  it('is kept over a restart, and opened once by whichever of two processes looks first', async () => {
    const { world, happen, release, shown, passWindows } = await busyLane(test.database, { mergeWindowMs: windowMs });
    await happen(1);
    await happen(2);
    await release();
    const [one, other] = [world.host(), world.host()];
    expect([await openLanes(one), await openLanes(other)]).toEqual(['idle', 'idle']);
    expect(await shown()).toEqual([]);
    await passWindows();
    await Promise.all([openLanes(one), openLanes(other)]);
    // The host that is gone holds the placement no more.
    await world.expire();
    await world.settle([one, other]);
    expect(await shown()).toEqual([[1, 2]]);
  });

  it('a crash at any commit of the merged run leaves nothing half merged: all are done by one later run', async () => {
    for (let transaction = 1; transaction <= 6; transaction += 1) {
      for (const moment of ['before', 'after'] as const) {
        const { world, agent, happen, release, passWindows } = await busyLane(test.database, {
          mergeWindowMs: windowMs,
        });
        const events = [await happen(1), await happen(2), await happen(3)];
        await release();
        await passWindows();
        const doomed = world.host({ db: killedAt(test.database, { transaction, moment }) });
        const step = async (name: (parts: typeof doomed) => Promise<unknown>) => name(doomed).catch(() => undefined);
        await step(openLanes);
        await step(startRuns);
        await doomed.live.idle();
        await world.recover();
        const at = `${transaction} ${moment}`;
        const done = (await world.runs(agent)).filter(({ status }) => status === 'completed').slice(1);
        expect(
          done.map(({ result }) => result),
          at,
        ).toEqual([[1, 2, 3]]);
        for (const event of events) {
          expect((await world.view(event)).dispositions, at).toMatchObject([
            { status: 'consumed', runId: done[0]?.id },
          ]);
        }
      }
    }
  }, 60_000);

  it('one cancel ends the merged run, and with it every input of it', async () => {
    const { world, agent, begin, happen, passWindows } = await busyLane(test.database, { mergeWindowMs: windowMs });
    const events = [await happen({ hold: true }), await happen({ hold: true })];
    await begin();
    await passWindows();
    releaseHeld();
    await expect
      .poll(async () => {
        await begin();
        return (await world.runs(agent)).map(({ status }) => status);
      })
      .toEqual(['completed', 'running']);
    const [, run] = await world.runs(agent);
    await world.send(
      { kind: 'control', type: 'run.control', target: { run: run?.id ?? '' } },
      { control: { verb: 'cancel', authority: 'human://alpha.test/users/u' } },
    );
    await world.settle();
    expect((await world.runs(agent))[1]).toMatchObject({ status: 'cancelled' });
    for (const event of events) {
      expect(await world.view(event)).toMatchObject({ dispositions: [{ status: 'consumed', runId: run?.id }] });
    }
  });
});

describe('F6, F15: lanes that are due', () => {
  it('one that cannot be begun is tried later, and holds up no other', async () => {
    const lanes = [await heldLane(), await heldLane()];
    const [bad, good] = lanes;
    for (const { passWindows } of lanes) await passWindows();
    await test.database.sql.unsafe(`
      create function public.no_begin() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger no_begin before insert on foundation.runs for each row
        when (new.home = '${bad?.agent.home}') execute function public.no_begin()`);
    for (let turn = 0; turn < 2; turn += 1) expect(await openLanes(bad?.world.parts as never)).toBe('idle');
    await test.database.sql.unsafe('drop trigger no_begin on foundation.runs; drop function public.no_begin()');
    await good?.world.settle();
    expect(await good?.shown()).toEqual([[1]]);
    expect(await bad?.shown()).toEqual([]);
    const [held] = await test.database.sql`
      select lane_due_at > hearth_now() as later from foundation.sessions where home = ${bad?.agent.home ?? ''}`;
    expect(held).toEqual({ later: true });
    await bad?.passWindows();
    await bad?.world.settle();
    expect(await bad?.shown()).toEqual([[1]]);
  });

  it('is not held for hours by a clock that has gone back eight of them', async () => {
    const { world, agent } = await heldLane();
    const back = openDatabase({
      target: test.target,
      applicationName: 'hearth test',
      maxConnections: 2,
      clock: world.parts.clock,
      log: world.parts.log,
      clockOffsetMs: -8 * 3_600_000,
    });
    expect(await world.runs(agent)).toHaveLength(1);
    await openLanes({ ...world.parts, db: back });
    await back.close();
    await world.settle();
    expect((await world.runs(agent)).map(({ result }) => result)).toContainEqual([1]);
  });

  async function heldLane() {
    const lane = await busyLane(test.database, { mergeWindowMs: windowMs });
    await lane.happen(1);
    await lane.release();
    return lane;
  }
});
