// BR-11: a peer is down for two hours on a dialled clock. What waits is signed afresh at each attempt and accepted when the
// peer is back; what expired meanwhile is a dead letter and is not sent.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buryUndelivered, readOutboxEntry, sendTransaction } from '../../src/federation/index.js';
import { listMessages } from '../../src/home/index.js';
import { agent, befriend, openWorld, say, type TestDomain, type World } from '../federation/federation-world.js';
import { type Dial, makeDial } from './dialled.js';

let world: World;
let alpha: TestDomain;
let beta: TestDomain;
let dials: Dial[] = [];
const never = new AbortController().signal;

beforeAll(async () => {
  world = await openWorld(['alpha.test', 'beta.test']);
  const [first, second] = world.domains;
  if (!first || !second) throw new Error('two domains are needed');
  [alpha, beta] = [first, second];
  dials = await Promise.all([alpha, beta].map(({ home }) => makeDial(home.db, home.clock)));
  await befriend(alpha, beta);
});
afterAll(() => world.close());

const dial = async (ms: number) => {
  for (const each of dials) await each.by(ms);
};
const puts = () => world.network.requests.filter(({ method }) => method === 'PUT');
const signatureOf = (headers: Record<string, string>) => {
  const input = headers['signature-input'] ?? '';
  return { created: Number(/;created=([0-9]+)/.exec(input)?.[1]), nonce: /;nonce="([^"]+)"/.exec(input)?.[1] };
};

it('each attempt of an outage of 2 h carries a fresh signature; back up, it is accepted; the expired is not sent (BR-11)', async () => {
  const [ada, bob] = [agent(alpha, 'ada'), agent(beta, 'bob')];
  const lasting = await say(alpha, { from: ada, to: bob, type: 'message', input: { text: 'lasting' } });
  const brief = await say(alpha, {
    from: ada,
    to: bob,
    type: 'message',
    input: { text: 'brief', expires_in_s: 3_600 },
  });
  world.network.fault = ({ method }) => (method === 'PUT' ? 'drop' : undefined);
  const attempts: { created: number; nonce: string | undefined }[] = [];
  for (let minute = 0; minute < 120; minute += 1) {
    const before = puts().length;
    await sendTransaction(alpha.gateway, beta.name, never);
    for (const { headers } of puts().slice(before)) {
      const signature = signatureOf(headers);
      expect(Math.abs(signature.created - alpha.home.clock.now().getTime() / 1000)).toBeLessThan(5);
      attempts.push(signature);
    }
    await dial(60_000);
  }
  expect(attempts.length).toBeGreaterThan(4);
  expect(new Set(attempts.map(({ nonce }) => nonce)).size).toBe(attempts.length);
  world.network.fault = () => undefined;
  const before = puts().length;
  await dial(3_600_000);
  while ((await sendTransaction(alpha.gateway, beta.name, never)) === 'sent');
  const sent = puts().slice(before);
  expect(sent).toHaveLength(1);
  expect(sent.some(({ body }) => Buffer.from(body ?? []).includes(brief.message_id ?? ''))).toBe(false);
  expect((await readOutboxEntry(alpha.home.db.sql, lasting.message_id ?? ''))?.status).toBe('delivered');
  const { messages } = await listMessages(beta.home.db.sql, bob.home, { limit: 10 });
  expect(messages.map(({ messageId }) => messageId)).toEqual([lasting.message_id]);

  await buryUndelivered(alpha.gateway);
  expect((await readOutboxEntry(alpha.home.db.sql, brief.message_id ?? ''))?.status).toBe('dead');
  const news = await alpha.home.db.sql<{ data: { reason: string } }[]>`
    select data from foundation.inputs where subject ->> 'resource' = ${brief.message_id ?? ''}`;
  expect(news.map(({ data }) => data.reason)).toEqual(['expired']);
});
