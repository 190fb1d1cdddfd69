// Transactions of several peers share commits: a bad one costs the others no more than the attempt that they shared.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharesOf } from '../../src/federation/gateway/accept-together.js';
import { LIMITS } from '../../src/protocol/index.js';
import { agent, befriend, openWorld, type TestDomain, type World } from './federation-world.js';
import { seal, sendRaw } from './raw-transaction.js';

let world: World;
let beta: TestDomain;
let alpha: TestDomain;
let gamma: TestDomain;

beforeAll(async () => {
  world = await openWorld(['alpha.test', 'beta.test', 'gamma.test']);
  const [a, b, c] = world.domains;
  if (!a || !b || !c) throw new Error('three domains are needed');
  [alpha, beta, gamma] = [a, b, c];
  await befriend(alpha, beta);
  await befriend(gamma, beta);
  await beta.home.db.sql.unsafe(`
    create function refuse_poison() returns trigger language plpgsql as $$
    begin
      if new.data #>> '{body,text}' = 'poison' then perform pg_sleep(0.5); raise exception 'poisoned'; end if;
      return new;
    end $$;
    create trigger refuse_poison before insert on foundation.inputs for each row execute function refuse_poison();`);
});
afterAll(() => world.close());

it('a transaction that the database refuses is sorted out beside the others: they are answered before it', async () => {
  const [bob, hana] = [agent(beta, 'bob'), agent(beta, 'hana')];
  const ended: string[] = [];
  const send = async (from: TestDomain, { to, text, count }: { to: string; text: string; count: number }) => {
    const ada = agent(from, 'ada');
    const envelopes = await Promise.all(
      Array.from({ length: count }, () => seal(from, { from: ada, to: [to], body: { text } })),
    );
    const { results } = await sendRaw(world, { from, to: beta, envelopes });
    ended.push(from.name);
    return results.map(({ result, code }) => code ?? result);
  };
  const opening = send(gamma, { to: hana.address, text: 'first', count: 1 });
  const poisoned = send(alpha, { to: bob.address, text: 'poison', count: 8 });
  const good = Array.from({ length: 3 }, (_, n) => send(gamma, { to: hana.address, text: `good ${n}`, count: 2 }));
  expect(await opening).toEqual(['accepted']);
  for (const each of good) expect(await each).toEqual(['accepted', 'accepted']);
  expect(await send(gamma, { to: hana.address, text: 'after', count: 1 })).toEqual(['accepted']);
  expect(await poisoned).toEqual(Array.from({ length: 8 }, () => 'internal'));
  expect(ended.at(-1)).toBe(alpha.name);
});

it('what shares a commit holds no more than the largest transaction, in the order of its arrival', () => {
  const accept = (pairs: number) => ({ items: [{ verified: { envelope: { header: { to: Array(pairs) } } } }] });
  const accepts = [LIMITS.transactionPairs, 1, 999, 1, 600, 500, 0].map(accept) as unknown as Parameters<
    typeof sharesOf
  >[0];
  expect(sharesOf(accepts)).toEqual([accepts.slice(0, 1), accepts.slice(1, 3), accepts.slice(3, 5), accepts.slice(5)]);
});
