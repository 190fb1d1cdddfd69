// Proposals that come side by side share commits; whatever is not plain is performed alone and costs its neighbours nothing.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRefusal, performEffect } from '../../src/foundation/index.js';
import type { Principal } from '../../src/home/index.js';
import { agent, befriend, openWorld, type TestDomain, type World } from './federation-world.js';

let world: World;
let alpha: TestDomain;
let ada: Principal;
let bob: Principal;

beforeAll(async () => {
  world = await openWorld(['alpha.test', 'beta.test']);
  const [first, second] = world.domains;
  if (!first || !second) throw new Error('two domains are needed');
  alpha = first;
  await befriend(alpha, second);
  [ada, bob] = [agent(alpha, 'ada'), agent(second, 'bob')];
});
afterAll(() => world.close());

const propose = (proposalId: string, input: Record<string, string>, target: string = bob.address) =>
  performEffect(alpha.effects, {
    proposalScope: `principal:${ada.home}`,
    proposalId,
    actor: { home: ada.home, agent: ada.address },
    tenant: ada.tenant,
    action: 'interaction.message',
    target,
    input,
  });

it('forty at once are forty effects in far fewer commits, each with its own copy, outbox row and audit entry', async () => {
  const { db } = alpha.gateway;
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, index) => propose(`many-${index}`, { text: 'hello' })),
  );
  expect(results.map((result) => !isRefusal(result) && result.status)).toEqual(results.map(() => 'succeeded'));
  const [counted] = await db.sql<{ commits: number; queued: number; copies: number; audits: number }[]>`
    select (select count(distinct xmin::text) from foundation.effects where proposal_id like 'many-%') as commits,
           (select count(*)
              from federation.outbox_items o
              join foundation.effects e on e.effect_id = o.effect_id and e.proposal_id like 'many-%') as queued,
           (select count(*) from home.mailbox_messages where home = ${ada.home} and direction = 'out') as copies,
           (select count(*) from foundation.audit_entries where action = 'effect.settle' and home = ${ada.home}) as audits`;
  expect(counted).toMatchObject({ queued: 40, copies: 40, audits: 40 });
  expect(counted?.commits).toBeLessThan(10);
});

it('the same proposal twice, a refused one and a good one end as each does alone', async () => {
  const [first, second, refused, good] = await Promise.all([
    propose('twice', { text: 'once' }),
    propose('twice', { text: 'once' }),
    propose('stranger', { text: 'no' }, 'agent://gamma.test/agents/x'),
    propose('good', { text: 'yes' }),
  ]);
  if (!first || !second || isRefusal(first) || isRefusal(second)) throw new Error('refused');
  expect(second.effectId).toBe(first.effectId);
  expect(refused).toMatchObject({ refused: true, reason: 'peer_unknown' });
  expect(good).toMatchObject({ status: 'succeeded' });
});

it('several of one conversation at once follow each other in prev, none is lost (D9)', async () => {
  const opening = await propose('opening', { text: 'first' });
  if (isRefusal(opening)) throw new Error(opening.reason);
  const { conversation_id } = opening.result as Record<string, string>;
  if (conversation_id === undefined) throw new Error('no conversation');
  const more = Array.from({ length: 20 }, (_, index) => propose(`more-${index}`, { text: 'next', conversation_id }));
  expect((await Promise.all(more)).filter(isRefusal)).toEqual([]);
  const items = await alpha.gateway.db.sql<{ messageId: string; header: Uint8Array }[]>`
    select message_id, header
      from federation.outbox_items
     where conversation_id = ${conversation_id}
     order by position`;
  const rows = items.map(({ messageId, header }) => ({
    messageId,
    prev: JSON.parse(Buffer.from(header).toString()).prev,
  }));
  expect(rows.map(({ prev }) => prev)).toEqual(['', ...rows.slice(0, -1).map(({ messageId }) => messageId)]);
  expect(rows).toHaveLength(21);
});
