import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boundPassed, overall, perOrigin, sweepFederation } from '../../src/federation/index.js';

import { listMessages } from '../../src/home/index.js';
import { agent, openWorld, type TestDomain, type World } from './federation-world.js';
import { seal, sendRaw } from './raw-transaction.js';

let world: World;
let stranger: TestDomain;
let beta: TestDomain;

beforeAll(async () => {
  world = await openWorld(['stranger.test', 'beta.test']);
  const [first, second] = world.domains;
  if (!first || !second) throw new Error('two domains are needed');
  [stranger, beta] = [first, second];
});
afterAll(() => world.close());

const count = async (table: string) => {
  const [row] = await beta.home.db.sql.unsafe(`select count(*)::int as count from ${table}`);
  return row?.count;
};

describe('what a stranger sends (D5, D6, D11)', () => {
  it('is parked for every recipient, real or not, and reaches no mailbox and no input', async () => {
    const to = [agent(beta, 'bob').address, 'agent://beta.test/agents/nobody'];
    const envelope = await seal(stranger, { from: agent(stranger, 'ada'), to });
    const { results } = await sendRaw(world, { from: stranger, to: beta, envelopes: [envelope] });
    expect(results.map(({ recipient, result }) => [recipient, result])).toEqual(
      to.map((address) => [address, 'parked']),
    );
    expect((await listMessages(beta.home.db.sql, agent(beta, 'bob').home, { limit: 10 })).messages).toEqual([]);
    expect([await count('foundation.inputs'), await count('home.mailbox_messages')]).toEqual([0, 0]);
    const [row] = await beta.home.db
      .sql`select relationship, fingerprint from federation.peers where domain = 'stranger.test'`;
    expect(row).toEqual({ relationship: 'stranger', fingerprint: null });
    await sendRaw(world, { from: stranger, to: beta, envelopes: [envelope] });
    expect(await count('federation.quarantine_items')).toBe(2);
  });

  it('is held up to 1,000 items per origin; the next transaction is refused clearly and stores nothing', async () => {
    await beta.home.db.sql`delete from federation.quarantine_items`;
    const from = agent(stranger, 'ada');
    const to = (n: number) => Array.from({ length: 50 }, (_, at) => `agent://beta.test/agents/x${50 * n + at}`);
    const full = await Promise.all(
      Array.from({ length: 20 }, (_, n) => seal(stranger, { from, to: to(n), body: { text: 'x' } })),
    );
    const filled = await sendRaw(world, { from: stranger, to: beta, envelopes: full });
    expect(filled.results.filter(({ result }) => result === 'parked')).toHaveLength(perOrigin.items);
    const over = await sendRaw(world, {
      from: stranger,
      to: beta,
      envelopes: [await seal(stranger, { from, to: to(21).slice(0, 1) })],
    });
    expect([over.status, over.code]).toEqual([429, 'rate_limited']);
    expect(await count('federation.quarantine_items')).toBe(perOrigin.items);
    expect(await count('foundation.inputs')).toBe(0);
    const repeated = await sendRaw(world, { from: stranger, to: beta, envelopes: full.slice(0, 1) });
    expect(repeated.status).toBe(200);
  });

  it('is dropped past its age', async () => {
    await beta.home.db.sql`update federation.quarantine_items set expires_at = hearth_now()`;
    while ((await sweepFederation(beta.gateway)) === 'more');
    expect(await count('federation.quarantine_items')).toBe(0);
  });
});

describe('the bounds of quarantine', () => {
  it('hold at the limit and at the limit + 1, for items and bytes, per origin and overall', () => {
    const none = { items: 0, bytes: 0 };
    const full = { origin: perOrigin, all: none };
    expect(boundPassed(full, none)).toBeUndefined();
    expect(boundPassed(full, { items: 1, bytes: 0 })).toMatch(/items.*this origin/);
    expect(boundPassed(full, { items: 0, bytes: 1 })).toMatch(/bytes.*this origin/);
    expect(boundPassed({ origin: none, all: overall }, { items: 1, bytes: 0 })).toMatch(/items.*all origins/);
    expect(boundPassed({ origin: none, all: overall }, { items: 0, bytes: 1 })).toMatch(/bytes.*all origins/);
  });

  it('are never passed by any sequence of additions', () => {
    const additions = fc.array(fc.record({ items: fc.nat(400), bytes: fc.nat(4_000_000) }), { maxLength: 50 });
    fc.assert(
      fc.property(additions, (added) => {
        const held = { items: 0, bytes: 0 };
        for (const one of added) {
          if (boundPassed({ origin: held, all: held }, one) !== undefined) continue;
          held.items += one.items;
          held.bytes += one.bytes;
        }
        return held.items <= perOrigin.items && held.bytes <= perOrigin.bytes;
      }),
      { seed: 7 },
    );
  });
});
