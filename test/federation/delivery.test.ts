import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buryUndelivered, readDeliveries, readOutboxEntry, sendTransaction } from '../../src/federation/index.js';
import { listMessages, type Principal } from '../../src/home/index.js';
import { seededRandom } from '../../src/platform/index.js';
import { ownLimits, toUtf8 } from '../../src/protocol/index.js';
import { runDeliverOutbox } from '../../src/workers/deliver-outbox.js';
import {
  agent,
  befriend,
  deliver,
  gatewayOf,
  living,
  openWorld,
  response,
  say,
  type TestDomain,
  type World,
} from './federation-world.js';
import { seal, sendRaw } from './raw-transaction.js';

let world: World;
let alpha: TestDomain;
let beta: TestDomain;
let ada: Principal;
let bob: Principal;
const never = new AbortController().signal;

beforeAll(async () => {
  world = await openWorld(['alpha.test', 'beta.test']);
  const [first, second] = world.domains;
  if (!first || !second) throw new Error('two domains are needed');
  [alpha, beta] = [first, second];
  await befriend(alpha, beta);
  [ada, bob] = [agent(alpha, 'ada'), agent(beta, 'bob')];
});
beforeEach(() => {
  world.network.fault = () => undefined;
});
afterAll(() => world.close());

const isPut = (request: { method: string }) => request.method === 'PUT';
const message = (text: string, input: object = {}, to = bob) =>
  say(alpha, { from: ada, to, type: 'message', input: { text, ...input } });
const entry = async (said: Record<string, string>) => readOutboxEntry(alpha.home.db.sql, said.message_id ?? '');
/** The time that a back-off waits for has passed. */
const timePasses = () =>
  alpha.home.db.sql`update federation.peer_deliveries set next_attempt_at = hearth_now(), claimed_until = null`;
const news = (said: Record<string, string>) =>
  alpha.home.db.sql<{ type: string; data: { reason?: string } }[]>`
    select type, data from foundation.inputs where subject ->> 'resource' = ${said.message_id ?? ''} order by received_at`;
const texts = async (conversationId: string | undefined, who = bob) => {
  const { messages } = await listMessages(beta.home.db.sql, who.home, { limit: 500 });
  return messages
    .filter((found) => conversationId === undefined || found.conversationId === conversationId)
    .map((found) => JSON.parse(Buffer.from(found.body).toString()).text as string);
};

async function until(check: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 400; round += 1) {
    if (await check()) return;
    await alpha.home.clock.sleep(25);
  }
  throw new Error('the state did not come');
}

describe('delivery (D7)', () => {
  it('loses and doubles nothing when requests or answers are lost; the sender hears of the receipt once', async () => {
    const said = await message('through');
    world.network.fault = (request) => (isPut(request) ? 'drop' : undefined);
    expect(await sendTransaction(alpha.gateway, beta.name, never)).toBe('failed');
    expect(await sendTransaction(alpha.gateway, beta.name, never)).toBe('nothing');
    await timePasses();
    world.network.fault = (request) => (isPut(request) ? 'lose' : undefined);
    expect(await sendTransaction(alpha.gateway, beta.name, never)).toBe('failed');
    expect((await entry(said))?.status).toBe('queued');
    await timePasses();
    world.network.fault = () => undefined;
    await deliver(alpha, beta.name);
    expect(await entry(said)).toMatchObject({ status: 'delivered', attempt: 3 });
    expect(await texts(said.conversation_id)).toEqual(['through']);
    expect((await news(said)).map(({ type }) => type)).toEqual(['receipt.delivery.accepted']);
    const [state] = await readDeliveries(alpha.home.db.sql, ['beta.test']);
    expect(state).toMatchObject({ peer: beta.name, failures: 0, queued: 0 });
  });

  it('is not rolled back by a refusal: the sender is told, its own history stays', async () => {
    const missing = { ...bob, address: 'agent://beta.test/agents/nobody' as typeof bob.address };
    const said = await message('to nobody', {}, missing);
    await deliver(alpha, beta.name);
    expect(await entry(said)).toMatchObject({ status: 'rejected', reasonCode: 'recipient_unavailable' });
    expect((await news(said)).map(({ type, data }) => [type, data.reason])).toEqual([
      ['delivery.failed', 'recipient_unavailable'],
    ]);
    const own = await listMessages(alpha.home.db.sql, ada.home, { limit: 500 });
    expect(own.messages.some((found) => found.messageId === said.message_id)).toBe(true);
  });

  it('believes no answer without the peer’s own receipt over these very bytes', async () => {
    const said = await message('forged answers');
    const answers: unknown[] = [
      { results: [{ message_id: said.message_id, recipient: bob.address, result: 'accepted' }], receipt: 'a.b.c' },
      { results: [] },
      'nothing',
    ];
    for (const answer of answers) {
      world.network.fault = (request) => (isPut(request) ? response(200, toUtf8(JSON.stringify(answer))) : undefined);
      await timePasses();
      expect(await sendTransaction(alpha.gateway, beta.name, never)).toBe('failed');
    }
    // A true receipt, but of an earlier transaction.
    const earlier = await alpha.home.db.sql<{ token: string }[]>`
      select token from federation.transaction_receipts where direction = 'received' limit 1`;
    world.network.fault = (request) =>
      isPut(request) ? response(200, toUtf8(JSON.stringify({ results: [], receipt: earlier[0]?.token }))) : undefined;
    await timePasses();
    expect(await sendTransaction(alpha.gateway, beta.name, never)).toBe('failed');
    expect((await entry(said))?.status).toBe('queued');
    world.network.fault = () => undefined;
    await timePasses();
    await deliver(alpha, beta.name);
    expect((await entry(said))?.status).toBe('delivered');
  });

  it('gives a lone item up that the peer keeps calling malformed, and goes on with the next', async () => {
    const said = await message('refused as a whole');
    const next = await message('after it');
    world.network.fault = (request) =>
      isPut(request) && Buffer.from(request.body ?? []).includes(said.message_id ?? '')
        ? response(400, toUtf8('{"code":"schema_invalid"}'))
        : undefined;
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await timePasses();
      expect(await sendTransaction(alpha.gateway, beta.name, never)).toBe('failed');
    }
    expect(await entry(said)).toMatchObject({ status: 'rejected', reasonCode: 'request_refused' });
    await timePasses();
    await deliver(alpha, beta.name);
    expect((await entry(next))?.status).toBe('delivered');
  });

  it('ends at its expiry as a dead letter, and the sender hears why', async () => {
    const said = await message('too late');
    await alpha.home.db
      .sql`update federation.outbox_items set dead_at = hearth_now() where message_id = ${said.message_id ?? ''}`;
    expect(await sendTransaction(alpha.gateway, beta.name, never)).toBe('nothing');
    await buryUndelivered(alpha.gateway);
    expect(await entry(said)).toMatchObject({ status: 'dead', reasonCode: 'expired' });
    expect((await news(said)).map(({ type, data }) => [type, data.reason])).toEqual([['delivery.failed', 'expired']]);
    await buryUndelivered(alpha.gateway);
    expect(await news(said)).toHaveLength(1);
  });

  it('is tried once early when the peer shows that it lives, without clearing its record', async () => {
    const said = await message('early');
    world.network.fault = (request) => (isPut(request) && request.url.includes('beta') ? 'drop' : undefined);
    await sendTransaction(alpha.gateway, beta.name, never);
    const waits = async () => (await readDeliveries(alpha.home.db.sql, ['beta.test']))[0];
    await alpha.home.db.sql`update federation.peer_deliveries set next_attempt_at = hearth_now() + interval '1 hour'`;
    const fromBeta = async () =>
      sendRaw(world, { from: beta, to: alpha, envelopes: [await seal(beta, { from: bob, to: [ada.address] })] });
    await fromBeta();
    expect(await waits()).toMatchObject({ failures: 1 });
    expect(await sendTransaction(alpha.gateway, beta.name, never)).toBe('failed');
    await alpha.home.db.sql`update federation.peer_deliveries set next_attempt_at = hearth_now() + interval '1 hour'`;
    await fromBeta();
    expect(await sendTransaction(alpha.gateway, beta.name, never)).toBe('nothing');
    world.network.fault = () => undefined;
    await timePasses();
    await deliver(alpha, beta.name);
    expect((await entry(said))?.status).toBe('delivered');
  });
});

describe('order (D9)', () => {
  it('a recipient that has to wait holds its conversation back, in order, and no other', async () => {
    const move = (status: string) =>
      beta.home.db.sql`update home.principals set status = ${status} where home = ${bob.home}`;
    const first = await message('one');
    const conversation_id = first.conversation_id ?? '';
    await message('two', { conversation_id });
    const other = await message('elsewhere', {}, agent(beta, 'ada'));
    await move('migrating');
    await deliver(alpha, beta.name);
    expect((await entry(other))?.status).toBe('delivered');
    await move('active');
    expect(await sendTransaction(alpha.gateway, beta.name, never)).toBe('nothing');
    await alpha.home.db.sql`update federation.outbox_items set not_before = hearth_now() where status = 'queued'`;
    await deliver(alpha, beta.name);
    expect(await texts(conversation_id)).toEqual(['one', 'two']);
  });

  it('100 messages reach a failing peer in the order they were sent, none missing, over a crash halfway (BR-26)', async () => {
    const random = seededRandom(26);
    const first = await message('0');
    const conversation_id = first.conversation_id ?? '';
    for (let n = 1; n < 100; n += 1) await message(String(n), { conversation_id });
    world.network.fault = (request) => {
      if (!isPut(request)) return undefined;
      const dice = random.uniform(0, 1);
      return dice < 0.1 ? 'drop' : dice < 0.2 ? 'lose' : undefined;
    };
    let sends = 0;
    const queued = async () => (await readDeliveries(alpha.home.db.sql, ['beta.test']))[0]?.queued ?? 0;
    while ((await queued()) > 0 && sends < 400) {
      // Small batches, so that there is a halfway: while the peer fails, one item is the probe.
      await alpha.home.db.sql`update federation.peer_deliveries set failures = 1 where peer = ${beta.name}`;
      await timePasses();
      if (sends === 50) {
        // A crash after the peer stored the batch: the claim and the attempt stay, nothing was settled.
        world.network.fault = (request) => (isPut(request) ? 'lose' : undefined);
        await sendTransaction(gatewayOf(world.network, alpha.home), beta.name, never);
        world.network.fault = (request) => (isPut(request) && random.uniform(0, 1) < 0.1 ? 'drop' : undefined);
      } else {
        await sendTransaction(alpha.gateway, beta.name, never);
      }
      sends += 1;
    }
    expect(await texts(conversation_id)).toEqual(Array.from({ length: 100 }, (_, n) => String(n)));
  });
});

describe('after a restart', () => {
  it('what is queued is delivered by itself, without new traffic (BR-19)', async () => {
    const said: Record<string, string>[] = [];
    for (let n = 0; n < 20; n += 1) said.push(await message(`pending ${n}`));
    const first = said[0]?.conversation_id ?? '';
    // The process that was killed in the middle left its claim.
    await alpha.home.db.sql`
      update federation.peer_deliveries
         set claim = 'killed', claimed_until = hearth_lease_now() + interval '1 second', failures = 3, failing_since = hearth_now(),
             next_attempt_at = hearth_now() + interval '500 milliseconds'
       where peer = ${beta.name}`;
    const stop = new AbortController();
    const host = living(alpha);
    const restarted = gatewayOf(world.network, alpha.home);
    const worker = runDeliverOutbox(restarted, stop.signal);
    await until(async () => (await Promise.all(said.map(entry))).every((item) => item?.status === 'delivered'));
    stop.abort();
    await restarted.wakeups.close();
    await worker;
    await host.stop();
    expect(await texts(first)).toEqual(['pending 0']);
  });

  it.each([
    { envelopes: 5, inFlight: 1 },
    { envelopes: 5, inFlight: 2 },
    { envelopes: 7, inFlight: 3 },
    { envelopes: 50, inFlight: 8 },
  ])(
    'a long queue keeps to what the receiver takes: $envelopes envelopes, $inFlight in flight (DELIVERY-25)',
    async ({ envelopes, inFlight }) => {
      const limits = { ...ownLimits, transaction_envelopes: envelopes, transactions_in_flight: inFlight };
      await alpha.home.db
        .sql`update federation.peers set receiver_limits = ${alpha.home.db.sql.json(limits)} where domain = ${beta.name}`;
      const said = await Promise.all(Array.from({ length: 60 }, (_, n) => message(`long ${n}`)));
      const seen = { open: 0, most: 0, largest: 0 };
      const door = world.network.handlers.get(beta.name);
      if (!door) throw new Error('beta has no door');
      world.network.handlers.set(beta.name, async (request) => {
        if (!isPut(request)) return door(request);
        seen.open += 1;
        seen.most = Math.max(seen.most, seen.open);
        const { envelopes: sent } = JSON.parse(Buffer.from(request.body ?? []).toString());
        seen.largest = Math.max(seen.largest, sent.length);
        return door(request).finally(() => {
          seen.open -= 1;
        });
      });
      try {
        while ((await sendTransaction(alpha.gateway, beta.name, never)) === 'sent');
      } finally {
        world.network.handlers.set(beta.name, door);
        await alpha.home.db.sql`update federation.peers set receiver_limits = null where domain = ${beta.name}`;
      }
      expect((await Promise.all(said.map(entry))).map((item) => item?.status)).toEqual(said.map(() => 'delivered'));
      expect(seen.most).toBeLessThanOrEqual(inFlight);
      expect(seen.largest).toBeLessThanOrEqual(envelopes);
    },
  );

  it('two processes of one domain deliver each item once', async () => {
    const said: Record<string, string>[] = [];
    for (let n = 0; n < 10; n += 1) said.push(await message(`shared ${n}`));
    const stop = new AbortController();
    const gateways = [gatewayOf(world.network, alpha.home), gatewayOf(world.network, alpha.home)];
    const workers = gateways.map((gateway) => runDeliverOutbox(gateway, stop.signal));
    await until(async () => (await Promise.all(said.map(entry))).every((item) => item?.status === 'delivered'));
    stop.abort();
    for (const gateway of gateways) await gateway.wakeups.close();
    await Promise.all(workers);
    expect((await Promise.all(said.map(entry))).map((item) => item?.attempt)).toEqual(said.map(() => 1));
  });
});
