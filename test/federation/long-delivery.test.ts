// A queue longer than a transaction: what one delivery of it does, and what a fault in it costs.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readOutboxEntry, sendTransaction } from '../../src/federation/index.js';
import { ownLimits, type ReceiverLimits } from '../../src/protocol/index.js';
import {
  agent,
  befriend,
  deliver,
  openWorld,
  say,
  type TestDomain,
  type World,
} from '../federation/federation-world.js';

let world: World;
let alpha: TestDomain;
let beta: TestDomain;
const never = new AbortController().signal;
beforeAll(async () => {
  world = await openWorld(['alpha.test', 'beta.test']);
  const [a, b] = world.domains;
  if (!a || !b) throw new Error('two domains are needed');
  [alpha, beta] = [a, b];
  await befriend(alpha, beta);
});
beforeEach(() => {
  world.network.fault = () => undefined;
});
afterAll(() => world.close());
const message = (text: string) =>
  say(alpha, { from: agent(alpha, 'ada'), to: agent(beta, 'bob'), type: 'message', input: { text } });
const entry = async (said: Record<string, string>) => readOutboxEntry(alpha.home.db.sql, said.message_id ?? '');
const setLimits = (limits: ReceiverLimits) =>
  alpha.home.db
    .sql`update federation.peers set receiver_limits = ${alpha.home.db.sql.json(limits)} where domain = ${beta.name}`;

it('a fault of ours at one of several transactions leaves the others settled', async () => {
  await setLimits({ ...ownLimits, transaction_envelopes: 2, transactions_in_flight: 8 });
  const said = await Promise.all(Array.from({ length: 24 }, (_, n) => message(`fault ${n}`)));
  let faults = 0;
  let handedOver = 0;
  world.network.fault = ({ method, body }) => {
    if (method !== 'PUT') return undefined;
    faults += 1;
    if (faults === 1) throw new Error('a fault of ours');
    handedOver += JSON.parse(Buffer.from(body ?? []).toString()).envelopes.length;
    return undefined;
  };
  await expect(sendTransaction(alpha.gateway, beta.name, never)).rejects.toThrow('a fault of ours');
  const ends = (await Promise.all(said.map(entry))).map((item) => item?.status);
  expect(ends.filter((status) => status === 'delivered').length).toBe(handedOver);
  await alpha.home.db.sql`update federation.peer_deliveries set next_attempt_at = hearth_now(), claimed_until = null`;
  world.network.fault = () => undefined;
  await deliver(alpha, beta.name);
  expect((await Promise.all(said.map(entry))).every((item) => item?.status === 'delivered')).toBe(true);
});

it('a long delivery looks at the peer anew after a bounded number of rounds', async () => {
  await setLimits({ ...ownLimits, transaction_envelopes: 1, transactions_in_flight: 1 });
  const said = await Promise.all(Array.from({ length: 80 }, (_, n) => message(`long ${n}`)));
  let puts = 0;
  world.network.fault = ({ method }) => {
    if (method === 'PUT') puts += 1;
    return undefined;
  };
  expect(await sendTransaction(alpha.gateway, beta.name, never)).toBe('sent');
  expect(puts).toBeLessThan(80);
  await deliver(alpha, beta.name);
  expect((await Promise.all(said.map(entry))).every((item) => item?.status === 'delivered')).toBe(true);
});
