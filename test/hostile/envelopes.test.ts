// Envelopes of a pinned peer that lie, repeat, overflow or come in bulk: each is refused by itself, finally, and its
// neighbours are stored.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sweepFederation } from '../../src/federation/index.js';
import { formatInstant, LIMITS } from '../../src/protocol/index.js';
import { certify, messageIdOf, newKey, sealHostile } from '../support/hostile-peer.js';
import {
  bob,
  codesOf,
  deliver,
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

const at = (ms: number) => formatInstant(new Date(world.evil.now().getTime() + ms));
const send = (envelopes: readonly unknown[], more: object = {}) =>
  deliver(world, { peer: world.evil, envelopes, ...more });
/** Traces of a transaction whose items were all refused: the answer and its receipt, nothing of the items. */
const bounded = {
  'federation.inbound_transactions': 1,
  'federation.request_nonces': 1,
  'federation.transaction_receipts': 1,
};

describe('one envelope that lies', () => {
  const lies: Record<string, [string, () => Promise<unknown>]> = {
    'BR-08: another body under the same header': [
      'body_digest_mismatch',
      async () => ({ ...(await fromEve(world)), body: '{"text":"swapped"}' }),
    ],
    'BR-08: a body_ref whose object is not the signed one, or not here': [
      'body_missing',
      async () => {
        const { body: _gone, ...rest } = await sealHostile(world.evil, {
          from: world.eve,
          to: [bob],
          draft: { body_ref: 'object://evil.test/x' },
        });
        return rest;
      },
    ],
    'BR-08: a body and a body_ref': [
      'envelope_malformed',
      async () => ({
        ...(await fromEve(world, { draft: { body_ref: 'object://evil.test/x' } })),
        body: '{"text":"x"}',
      }),
    ],
    'BR-09: the sender of another domain, signed by its real author': [
      'sender_mismatch',
      () => fromEve(world, { draft: { sender: world.kim.address } }),
    ],
    'BR-09: the sender of another domain, with a certificate of that other domain': [
      'certificate_missing',
      () => sealHostile(world.friend, { from: world.kim, to: [bob] }),
    ],
    'a header changed after it was signed': [
      'signature_invalid',
      async () => rewritten(await fromEve(world), (header) => Object.assign(header, { causation_id: 'x' })),
    ],
    'a signature by another key': [
      'signature_invalid',
      () => sealHostile(world.evil, { from: { ...world.eve, key: newKey() }, to: [bob] }),
    ],
    'a signature of zeros': [
      'signature_invalid',
      async () => ({ ...(await fromEve(world)), signature: `ed25519.${'A'.repeat(86)}` }),
    ],
    'a signature cut short': [
      'signature_invalid',
      async () => ({ ...(await fromEve(world)), signature: (await fromEve(world)).signature.slice(0, -4) }),
    ],
    'a signature of another form': [
      'signature_invalid',
      async () => ({ ...(await fromEve(world)), signature: 'none.' }),
    ],
    'BR-10: no issued_at': [
      'envelope_malformed',
      async () => rewritten(await fromEve(world), (header) => delete header.issued_at),
    ],
    'BR-10: issued in two years': [
      'issued_in_future',
      () => fromEve(world, { draft: { issued_at: at(63_072_000_000), expires_at: at(63_072_001_000) } }),
    ],
    'BR-10: issued 301 s ahead': ['issued_in_future', () => fromEve(world, { draft: { issued_at: at(302_000) } })],
    'BR-10: expiring beyond the horizon': [
      'lifetime_too_long',
      () => fromEve(world, { draft: { expires_at: at(LIMITS.envelopeLifetimeMs + 60_000) } }),
    ],
    'BR-10: expired': ['expired', () => fromEve(world, { draft: { issued_at: at(-9_000), expires_at: at(-1) } })],
    'BR-10: expiring before it is issued': [
      'envelope_malformed',
      () => fromEve(world, { draft: { issued_at: at(200_000), expires_at: at(100_000) } }),
    ],
    'BR-10: a date that no calendar has': [
      'envelope_malformed',
      async () =>
        rewritten(await fromEve(world), (header) => Object.assign(header, { issued_at: '2026-02-30T00:00:00.000Z' })),
    ],
    'for another domain': ['wrong_destination', () => fromEve(world, { to: ['agent://friend.test/agents/kim'] })],
    'one recipient twice': ['envelope_malformed', () => fromEve(world, { to: [bob, bob] })],
    nobody: ['recipient_unavailable', () => fromEve(world, { to: ['agent://alpha.test/agents/nobody'] })],
    'a header that is not canonical': [
      'envelope_not_canonical',
      async () => ({ ...(await fromEve(world)), header: ` ${(await fromEve(world)).header}` }),
    ],
    'a header with a member twice': [
      'envelope_malformed',
      async () => ({ ...(await fromEve(world)), header: (await fromEve(world)).header.replace('{', '{"to":[],') }),
    ],
    'a header of depth 10,000': [
      'envelope_malformed',
      async () => ({ ...(await fromEve(world)), header: '['.repeat(10_000) }),
    ],
    'a header over 16 KiB': [
      'envelope_too_large',
      async () => ({ ...(await fromEve(world)), header: 'x'.repeat(16 * 1024 + 1) }),
    ],
    'a body over 48 KiB': [
      'envelope_too_large',
      async () => ({ ...(await fromEve(world)), body: 'x'.repeat(48 * 1024 + 1) }),
    ],
    'a number for the header': ['envelope_malformed', async () => ({ ...(await fromEve(world)), header: 7 })],
    'one member more': ['envelope_malformed', async () => ({ ...(await fromEve(world)), extra: 1 })],
    null: ['envelope_malformed', async () => null],
    'a conversation of ours': [
      'mint_foreign_domain',
      () => fromEve(world, { draft: { conversation_id: 'conv_alpha.test_abc_01m8qch4erz352et9d5zdjdak1' as never } }),
    ],
    'a body with a member twice': ['interaction_invalid', () => fromEve(world, { body: '{"text":"a","text":"b"}' })],
    'a body with an escaped NUL': ['interaction_invalid', () => fromEve(world, { body: '{"text":"a\\u0000"}' })],
    'a body with a lone surrogate': ['interaction_invalid', () => fromEve(world, { body: '{"text":"a\\udfff"}' })],
    'a body with an unsafe integer': [
      'interaction_invalid',
      () => fromEve(world, { body: '{"text":"a","data":{"n":1e300}}' }),
    ],
    'a body of depth 30': [
      'interaction_invalid',
      () => fromEve(world, { body: `{"text":"a","data":${'{"a":'.repeat(28)}1${'}'.repeat(28)}}` }),
    ],
    'a type that is none': [
      'interaction_invalid',
      () => fromEve(world, { draft: { interaction_type: 'constructor' } }),
    ],
  };

  it.each(Object.keys(lies))('%s', async (name) => {
    const [code, make] = lies[name] ?? ['', async () => null];
    const left = await rowsLeftBy(world.domain, async () => {
      const { results } = await send([await make()]);
      expect(new Set(codesOf(results))).toEqual(new Set([code]));
    });
    expect(left).toEqual(bounded);
  });

  it('BR-09: a certificate by another domain’s key, or for another domain’s agent, certifies nobody', async () => {
    const { evil, friend, eve, kim } = world;
    const stranger = newKey();
    const forged = await Promise.all([
      certify(evil, { agent: eve, by: stranger }),
      certify(evil, { agent: eve, by: friend.key }),
      certify(evil, { agent: eve, by: evil.key, domain: friend.domain }),
      certify(evil, { agent: { ...kim, key: eve.key } }),
    ]);
    for (const certificate of forged) {
      const { results } = await send([await fromEve(world)], { certificates: [certificate] });
      expect(codesOf(results)).toEqual(['certificate_missing']);
    }
    const asKim = await sealHostile(evil, { from: { ...kim, key: eve.key }, to: [bob] });
    expect(codesOf((await send([asKim], { certificates: forged })).results)).toEqual(['certificate_missing']);
  });
});

describe('BR-10: the same envelope again', () => {
  it('after an hour, a day, and once its transaction is forgotten is never a second delivery', async () => {
    const envelope = await fromEve(world, {
      to: [hana],
      draft: { expires_at: at(LIMITS.envelopeLifetimeMs - 60_000) },
    });
    const once = await send([envelope]);
    expect(codesOf(once.results)).toEqual(['accepted']);
    for (const ms of [3_600_000, 23 * 3_600_000, 5 * 86_400_000]) {
      await world.dial(ms);
      const again = await send([envelope]);
      expect(again.results[0]).toMatchObject({ result: 'duplicate', receipt_id: once.results[0]?.receipt_id });
    }
    await world.dial(2 * 86_400_000);
    while ((await sweepFederation(world.domain.running.layers.gateway)) === 'more');
    const [row] = await world.domain.test.database
      .sql`select count(*) as rows from federation.inbound_transactions where received_at < hearth_now() - interval '7 days'`;
    expect(row).toEqual({ rows: 0 });
    expect(codesOf((await send([envelope])).results)).toEqual(['expired']);
    expect(await storedMessages(world, messageIdOf(envelope))).toBe(1);
  });

  it('an id used again for other content is refused, and the first stays', async () => {
    const first = await fromEve(world, { to: [hana] });
    await send([first]);
    const message_id = messageIdOf(first) as never;
    const { results } = await send([
      await fromEve(world, { to: [hana], body: { text: 'other' }, draft: { message_id } }),
    ]);
    expect(codesOf(results)).toEqual(['message_id_reuse']);
    expect(await storedMessages(world, message_id)).toBe(1);
  });
});
