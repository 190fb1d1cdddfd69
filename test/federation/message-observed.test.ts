// F25: that a message has come can be waited for and listened to.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addStandingSubscription } from '../../src/foundation/index.js';
import { agent, befriend, deliver, openWorld, say, type TestDomain, type World } from './federation-world.js';

let world: World;
let alpha: TestDomain;
let beta: TestDomain;

beforeAll(async () => {
  world = await openWorld(['alpha.test', 'beta.test']);
  const [first, second] = world.domains;
  if (!first || !second) throw new Error('two domains are needed');
  [alpha, beta] = [first, second];
  await befriend(alpha, beta);
});
afterAll(() => world.close());

it('F25: a stored message is told once, without what it says, and only where somebody listens', async () => {
  const [ada, bob] = [agent(alpha, 'ada'), agent(beta, 'bob')];
  const { db, clock, random } = beta.home;
  const facts = () => db.sql`
    select type, subject ->> 'resource' as subject, data from foundation.inputs where source = 'hearth://foundation'`;
  const send = async (text: string) => {
    const said = await say(alpha, { from: ada, to: bob, type: 'message', input: { text } });
    await deliver(alpha, beta.name);
    return said.message_id;
  };
  await send('unheard');
  expect(await facts()).toEqual([]);
  await db.transact('listen', (tx) =>
    addStandingSubscription(tx, {
      home: bob.home,
      tenant: bob.tenant,
      type: 'message.observed',
      ids: { now: clock.now(), random: (count) => random.bytes(count) },
    }),
  );
  const messageId = await send('a secret');
  const told = await facts();
  expect(told).toMatchObject([
    { type: 'message.observed', subject: `message:${messageId}`, data: { message_id: messageId, sender: ada.address } },
  ]);
  expect(JSON.stringify(told)).not.toContain('secret');
});
