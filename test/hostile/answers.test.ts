// A pinned peer that answers a delivery in every wrong way (BR-88 on the way out): the item stays queued with a reason, other
// peers are served meanwhile, nothing is believed, and once the peer answers well the item goes through.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { digestOf, formatInstant, homeTagOf, mintId, sealReceipt } from '../../src/protocol/index.js';
import { type Answered, type Asked, type HostilePeer, newKey } from '../support/hostile-peer.js';
import { goodMessageArrives, type HostileWorld, openHostileWorld } from './hostile-world.js';

let world: HostileWorld;
let key = 0;

beforeAll(async () => {
  world = await openHostileWorld();
});
afterAll(() => world.close());

type Result = { message_id: string; recipient: string; result: string; code?: string };

/** What a good peer would answer, with any part of the receipt changed. */
async function receiptFor(
  peer: HostilePeer,
  { path, body }: Asked,
  change: Record<string, unknown> = {},
  by = peer.key,
) {
  const frame = JSON.parse(body.toString()) as { envelopes: { header: string }[] };
  const results = frame.envelopes.flatMap(({ header }): Result[] => {
    const { message_id, to } = JSON.parse(header) as { message_id: string; to: string[] };
    return to.map((recipient) => ({ message_id, recipient, result: 'accepted' }));
  });
  const id = path.split('/').at(-1) ?? '';
  const receipt = {
    type: 'transaction-receipt',
    receipt_id: mintId('rcpt', homeTagOf(world.kim.principalId), {
      now: peer.now(),
      random: (count) => crypto.getRandomValues(new Uint8Array(count)),
    }),
    subject_ref: id,
    subject_digest: digestOf(body),
    issuer: peer.domain,
    observed_at: formatInstant(peer.now()),
    code: 'processed',
    detail: '',
    transaction_id: id,
    origin: 'alpha.test',
    destination: peer.domain,
    incarnation: 'inc',
    results,
    ...change,
  };
  return {
    results: receipt.results,
    receipt: await sealReceipt(receipt as Parameters<typeof sealReceipt>[0], by.kid, by.sign),
  };
}

const whole = async (asked: Asked, change?: Record<string, unknown>, by?: HostilePeer['key']): Promise<Answered> => ({
  status: 200,
  body: JSON.stringify(await receiptFor(world.evil, asked, change, by)),
});

const wrong: Record<string, (asked: Asked) => Answered | Promise<Answered>> = {
  'cuts the connection': () => 'cut',
  redirects: () => ({ status: 307, headers: { location: 'http://127.0.0.1:1/' } }),
  'answers 200 with nothing': () => ({ status: 200 }),
  'answers 500 and HTML': () => ({ status: 500, body: '<html>' }),
  'answers 200 and depth 100,000': () => ({ status: 200, body: '['.repeat(100_000) }),
  'answers two megabytes': () => ({ status: 200, body: 'x'.repeat(2 * 1024 * 1024) }),
  'claims a compressed answer': () => ({ status: 200, headers: { 'content-encoding': 'gzip' }, body: 'x' }),
  'claims an endless answer': () => ({ status: 200, headers: { 'content-length': '99999999999' }, body: 'x' }),
  'asks to wait for ever': () => ({ status: 429, headers: { 'retry-after': '999999999999999999999' } }),
  'asks to wait until a year that is none': () => ({
    status: 503,
    headers: { 'retry-after': 'Fri, 99 Foo 99999 99:99:99 GMT' },
  }),
  'signs for other bytes': (asked) => whole(asked, { subject_digest: digestOf(new Uint8Array()) }),
  'signs for another transaction': (asked) =>
    whole(asked, {
      transaction_id: mintId('txn', homeTagOf(world.kim.principalId), {
        now: world.evil.now(),
        random: (count) => new Uint8Array(count),
      }),
    }),
  'signs for another origin': (asked) => whole(asked, { origin: 'friend.test' }),
  'signs fewer results': (asked) => whole(asked, { results: [] }),
  'signs with a key that it does not publish': (asked) => whole(asked, {}, newKey()),
  'says other results than it signed': async (asked) => {
    const answer = await receiptFor(world.evil, asked);
    return {
      status: 200,
      body: JSON.stringify({
        ...answer,
        results: answer.results.map((result) => ({ ...result, result: 'rejected', code: 'expired' })),
      }),
    };
  },
};

const statusOf = async (messageId: string) => {
  const [row] = await world.domain.test.database.sql<{ status: string }[]>`
    select status from federation.outbox_items where message_id = ${messageId}`;
  return row?.status;
};
/** Its back-off is over. */
const again = () => world.domain.test.database.sql`
  update federation.peer_deliveries set next_attempt_at = hearth_now() where peer = 'evil.test'`;

it.each(Object.keys(wrong))('a peer that %s is believed in nothing, and the item waits', async (name) => {
  const before = world.evil.asked.length;
  world.evil.answer = (asked) => (asked.method === 'PUT' ? wrong[name]?.(asked) : undefined);
  key += 1;
  const sent = await world.domain.api('POST', '/v1/messages', {
    body: { to: world.eve.address, type: 'message', body: { text: name } },
    headers: { 'idempotency-key': `answers-${key}` },
  });
  expect(sent.status).toBe(202);
  const messageId = sent.text('result', 'message_id');
  await again();
  await expect
    .poll(() => world.evil.asked.slice(before).filter(({ method }) => method === 'PUT').length, { timeout: 10_000 })
    .toBeGreaterThan(0);
  await expect
    .poll(async () => (await world.domain.api('GET', '/admin/v1/peers/evil.test')).text('delivery', 'failures'), {
      timeout: 10_000,
    })
    .not.toBe('0');
  expect(await statusOf(messageId)).toBe('queued');
  await goodMessageArrives(world);

  world.evil.answer = (asked) => (asked.method === 'PUT' ? whole(asked) : undefined);
  await again();
  await expect.poll(() => statusOf(messageId), { timeout: 10_000 }).toBe('delivered');
});
