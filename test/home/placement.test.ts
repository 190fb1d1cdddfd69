import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fence, placementLimits } from '../../src/foundation/index.js';
import { endAgent, homePlacements, readPlacement } from '../../src/home/index.js';
import type { Tx } from '../../src/platform/index.js';
import { addAgent, type HomeFixture, openHome } from './home-fixture.js';

const { ttlMs } = placementLimits;

describe('placement', () => {
  let home: HomeFixture;
  let placements: ReturnType<typeof homePlacements>;
  let count = 0;

  beforeAll(async () => {
    home = await openHome();
    placements = homePlacements(home);
  });
  afterAll(() => home.close());

  async function freshAgent(): Promise<string> {
    count += 1;
    return (await addAgent(home, `agent-${count}`)).home;
  }

  function inTx<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return home.db.transact('test', work);
  }

  async function claimOne(tx: Tx, agent: string, holder: string): Promise<Fence | undefined> {
    const [fence] = await placements.claim(tx, holder, [agent]);
    return fence;
  }

  /** As when so much lease time has passed. */
  function later<T>(ms: number, work: (tx: Tx) => Promise<T>): Promise<T> {
    return inTx(async (tx) => {
      if (ms > 0) await tx`update foundation.lease_clock set at = at + ${ms} * interval '1 millisecond'`;
      return work(tx);
    });
  }

  async function claim(agent: string, holder: string, ms = 0): Promise<Fence> {
    const fence = await later(ms, (tx) => claimOne(tx, agent, holder));
    if (!fence) throw new Error('not claimed');
    return fence;
  }

  it('is confirmed to its holder under the same lease and epoch, and refused to another', async () => {
    const agent = await freshAgent();
    const first = await claim(agent, 'host-a');
    expect(first.placementEpoch).toBe(1);
    expect(await claim(agent, 'host-a')).toEqual(first);
    expect(await inTx((tx) => claimOne(tx, agent, 'host-b'))).toBeUndefined();
  });

  it('goes to exactly one of many hosts that claim it at once', async () => {
    const agent = await freshAgent();
    const hosts = Array.from({ length: 8 }, (_, index) => `host-${index}`);
    const claims = await Promise.all(hosts.map((host) => inTx((tx) => claimOne(tx, agent, host))));
    expect(claims.filter((fence) => fence !== undefined)).toHaveLength(1);
  });

  it('starts a new epoch under a new lease once it has lapsed, also for the host that had it', async () => {
    const agent = await freshAgent();
    const first = await claim(agent, 'host-a');
    const second = await claim(agent, 'host-b', ttlMs + 1);
    expect(second.placementEpoch).toBe(2);
    expect(second.placementLeaseId).not.toBe(first.placementLeaseId);
    const third = await claim(agent, 'host-b', ttlMs + 1);
    expect(third.placementEpoch).toBe(3);
  });

  it('BR-55: holds no fence of an older epoch, however long its lease would have run', async () => {
    const agent = await freshAgent();
    const old = await claim(agent, 'host-a');
    await inTx((tx) => placements.release(tx, 'host-a'));
    const current = await claim(agent, 'host-b');
    expect(current.placementEpoch).toBe(old.placementEpoch + 1);
    expect(await inTx((tx) => placements.hold(tx, old))).toBeUndefined();
    expect(await inTx((tx) => placements.hold(tx, { ...current, placementEpoch: old.placementEpoch }))).toBeUndefined();
    expect(
      await inTx((tx) => placements.hold(tx, { ...current, placementLeaseId: old.placementLeaseId })),
    ).toBeUndefined();
    expect(await inTx((tx) => placements.hold(tx, current))).toEqual(current);
  });

  it('D17: of a takeover and effects that race it, none commits under the old epoch after the takeover', async () => {
    const agent = await freshAgent();
    const old = await claim(agent, 'host-a');
    await home.db.sql`create table public.effects_seen (epoch bigint, taken_over boolean)`;
    const effect = () =>
      inTx(async (tx) => {
        if (!(await placements.hold(tx, old))) return;
        await tx`
          insert into public.effects_seen
          select ${old.placementEpoch}, placement_epoch > ${old.placementEpoch}
            from home.placements
           where home = ${agent}`;
      });
    const takeOver = later(ttlMs + 1, (tx) => claimOne(tx, agent, 'host-b'));
    await Promise.all([...Array.from({ length: 50 }, effect), takeOver, ...Array.from({ length: 50 }, effect)]);
    expect(await home.db.sql`select 1 from public.effects_seen where taken_over`).toHaveLength(0);
    expect(await inTx((tx) => placements.hold(tx, old))).toBeUndefined();
  });

  it('is not held once it has lapsed, even while nobody else took it', async () => {
    const agent = await freshAgent();
    const fence = await claim(agent, 'host-a');
    expect(await later(ttlMs + 1, (tx) => placements.hold(tx, fence))).toBeUndefined();
  });

  it('is renewed for as long as it lives and never after', async () => {
    const [kept, lapsed] = [await freshAgent(), await freshAgent()];
    await claim(kept, 'host-r');
    await claim(lapsed, 'host-r');
    await home.db.sql`update home.placements set expires_at = hearth_lease_now() where home = ${lapsed}`;
    const renewed = await inTx((tx) => placements.renew(tx, 'host-r', [kept, lapsed]));
    expect(renewed).toMatchObject([{ home: kept, renewed: true }]);
    expect((await readPlacement(home.db.sql, kept))?.expiresAt.getTime()).toBeGreaterThan(
      (await readPlacement(home.db.sql, lapsed))?.expiresAt.getTime() ?? 0,
    );
  });

  it('is given back by its holder without losing count of its epochs', async () => {
    const agent = await freshAgent();
    await claim(agent, 'host-c');
    await inTx((tx) => placements.release(tx, 'host-c'));
    expect((await claim(agent, 'host-d')).placementEpoch).toBe(2);
  });

  it('lapses with the end of its agent', async () => {
    const agent = await addAgent(home, 'short-lived');
    const fence = await claim(agent.home, 'host-e');
    await endAgent(home.db, { address: agent.address, actor: 'test' });
    expect(await inTx((tx) => placements.hold(tx, fence))).toBeUndefined();
  });

  it('of several, those that are free or its own go to who claims them, and fences are held together', async () => {
    const [own, free, others] = [await freshAgent(), await freshAgent(), await freshAgent()];
    const first = await claim(own, 'host-f');
    await claim(others, 'host-g');
    const claimed = await inTx((tx) => placements.claim(tx, 'host-f', [others, free, own]));
    expect(claimed.map(({ home: each }) => each).sort()).toEqual([own, free].sort());
    expect(claimed).toContainEqual(first);
    const stale = { ...first, home: others };
    expect(await inTx((tx) => placements.holdAll(tx, [stale, ...claimed]))).toEqual(claimed);
    expect(await inTx((tx) => placements.claim(tx, 'host-f', []))).toEqual([]);
  });
});
