// Mail in bulk: poison in a batch, floods of unverifiable mail, a stranger that fills quarantine. What is bad is refused by
// itself and finally, within bounds, and what is good is stored.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { messageIdOf, newKey, sealHostile } from '../support/hostile-peer.js';
import {
  bob,
  codesOf,
  deliver,
  expectProblem,
  fromEve,
  goodMessageArrives,
  type HostileWorld,
  hana,
  openHostileWorld,
  rewritten,
  rowsLeftBy,
  storedMessages,
} from './hostile-world.js';

let world: HostileWorld;

beforeAll(async () => {
  world = await openHostileWorld();
});
afterEach(() => goodMessageArrives(world));
afterAll(() => world.close());

const send = (envelopes: readonly unknown[]) => deliver(world, { peer: world.evil, envelopes });

describe('BR-27: poison in the middle of a batch', () => {
  it('48 of 50 are stored, the two bad ones are named, in order, and a repeat changes nothing', async () => {
    const batch: unknown[] = await Promise.all(Array.from({ length: 50 }, () => fromEve(world, { to: [hana] })));
    const oversized = await fromEve(world, { to: [hana] });
    batch[20] = { ...oversized, body: 'x'.repeat(60 * 1024) };
    batch[21] = 'malformed';
    const { status, results } = await send(batch);
    expect(status).toBe(200);
    expect(results).toHaveLength(50);
    expect(results.filter(({ result }) => result === 'accepted')).toHaveLength(48);
    expect(results[20]).toMatchObject({ result: 'rejected', code: 'envelope_too_large', index: 20 });
    expect(results[21]).toMatchObject({ result: 'rejected', code: 'envelope_malformed', index: 21 });
    const again = await send(batch);
    expect(again.results.filter(({ result }) => result === 'duplicate')).toHaveLength(48);
  });

  it('1,000 recipients with the longest names are answered, one more or as many refused ones are 413', async () => {
    const long = (n: number) =>
      `agent://${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(62)}.test/agents/${'n'.repeat(39)}${String(n).padStart(2, '0')}`;
    const to = Array.from({ length: 50 }, (_, n) => long(n));
    expect(to[0]?.length).toBeLessThanOrEqual(255);
    const many = await Promise.all(Array.from({ length: 50 }, () => fromEve(world, { to })));
    const refused = many.map((envelope) => rewritten(envelope, (header) => Object.assign(header, { zzz: 1 })));
    for (const envelopes of [many.slice(0, 20), refused.slice(0, 20)]) {
      const answer = await send(envelopes);
      expect([answer.status, answer.results.length]).toEqual([200, 1_000]);
    }
    const one = await fromEve(world);
    for (const envelopes of [[...many.slice(0, 20), one], refused, [...refused.slice(0, 20), one]]) {
      const left = await rowsLeftBy(world.domain, async () => {
        const answer = await send(envelopes);
        expect([answer.status, answer.code]).toEqual([413, 'too_large']);
        expectProblem(answer);
      });
      expect(left).toEqual({});
    }
  });
});

describe('BR-29: unverifiable mail in bulk', () => {
  it('200 bad signatures and one good message beside them: it is there within 2 s, the bad ones are final at once', async () => {
    const forger = { ...world.eve, key: newKey() };
    const bad = await Promise.all(
      Array.from({ length: 200 }, () => sealHostile(world.evil, { from: forger, to: [bob] })),
    );
    const started = performance.now();
    const batches = [0, 50, 100, 150].map((from) => send(bad.slice(from, from + 50)));
    await goodMessageArrives(world);
    expect(performance.now() - started).toBeLessThan(2_000);
    for (const { results } of await Promise.all(batches)) {
      expect(new Set(codesOf(results))).toEqual(new Set(['signature_invalid']));
      expect(new Set(results.map(({ result }) => result))).toEqual(new Set(['rejected']));
    }
    expect(await Promise.all(bad.slice(0, 5).map((envelope) => storedMessages(world, messageIdOf(envelope))))).toEqual([
      0, 0, 0, 0, 0,
    ]);
  });
});

describe('a stranger', () => {
  it('has its mail parked, whether its recipient exists or not, up to a bound in bytes, and wakes nobody', async () => {
    const parked = (to: string) =>
      sealHostile(world.stranger, { from: world.sid, to: [to], body: { text: 'x'.repeat(30_000) } });
    const answer = await deliver(world, {
      peer: world.stranger,
      envelopes: [await parked(bob), await parked('agent://alpha.test/agents/nobody')],
    });
    expect(answer.results.map(({ result }) => result)).toEqual(['parked', 'parked']);
    let last = answer;
    const left = await rowsLeftBy(world.domain, async () => {
      for (let n = 0; n < 12 && last.status === 200; n += 1) {
        last = await deliver(world, {
          peer: world.stranger,
          envelopes: await Promise.all(Array.from({ length: 40 }, () => parked(bob))),
        });
      }
    });
    expect([last.status, last.code]).toEqual([429, 'rate_limited']);
    expect(left['federation.quarantine_items']).toBeLessThan(300);
    expect(left['foundation.inputs'] ?? 0).toBe(0);
    expect(left['home.mailbox_messages'] ?? 0).toBe(0);
  });
});
