import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { blockPeer, pinPeer } from '../../src/federation/index.js';
import { listMessages, type Principal } from '../../src/home/index.js';
import { formatInstant, LIMITS } from '../../src/protocol/index.js';
import { agent, befriend, living, openWorld, type TestDomain, type World } from './federation-world.js';
import { newConversation, newTransactionId, readAnswer, seal, sendRaw, signRaw } from './raw-transaction.js';

let world: World;
let alpha: TestDomain;
let beta: TestDomain;
let ada: Principal;
let bob: Principal;
let hana: Principal;

beforeAll(async () => {
  world = await openWorld(['alpha.test', 'beta.test']);
  const [first, second] = world.domains;
  if (!first || !second) throw new Error('two domains are needed');
  [alpha, beta] = [first, second];
  await befriend(alpha, beta);
  [ada, bob, hana] = [agent(alpha, 'ada'), agent(beta, 'bob'), agent(beta, 'hana')];
});
beforeEach(() => {
  world.network.fault = () => undefined;
});
afterAll(() => world.close());

const send = (envelopes: readonly unknown[], more: object = {}) =>
  sendRaw(world, { from: alpha, to: beta, envelopes, ...more });
const stored = async (who: Principal) => (await listMessages(beta.home.db.sql, who.home, { limit: 200 })).messages;
const inputs = () => beta.home.db.sql<{ home: string }[]>`select home from foundation.inputs`;

describe('what a pinned peer sends', () => {
  it('reaches each recipient, a person without an input, an agent with one, in one commit with its receipt (D3)', async () => {
    const before = (await inputs()).length;
    const envelope = await seal(alpha, { from: ada, to: [bob.address, hana.address] });
    const { results } = await send([envelope]);
    expect(results.map(({ result, recipient }) => [recipient, result])).toEqual([
      [bob.address, 'accepted'],
      [hana.address, 'accepted'],
    ]);
    expect((await inputs()).length).toBe(before + 1);
    const message = (await stored(bob)).at(-1);
    expect(Buffer.from(message?.header ?? []).toString()).toBe(envelope.header);
    expect(message?.receiptId).toBe(results[0]?.receipt_id);
    expect(message?.inputId).toMatch(/^in_/);
    expect((await stored(hana)).at(-1)?.inputId).toBeNull();
  });

  it('is one copy for the exact repeat, with the first receipt; another digest under the id is refused (BR-20)', async () => {
    const first = await seal(alpha, { from: ada, to: [bob.address] });
    const { message_id } = JSON.parse(first.header);
    const one = await send([first]);
    const copies = (await stored(bob)).length;
    const again = await send([first]);
    expect(again.results[0]).toMatchObject({ result: 'duplicate', receipt_id: one.results[0]?.receipt_id });
    const reuse = await send([
      await seal(alpha, { from: ada, to: [bob.address], body: { text: 'other' }, draft: { message_id } }),
    ]);
    expect(reuse.results[0]).toMatchObject({ result: 'rejected', code: 'message_id_reuse' });
    expect((await stored(bob)).length).toBe(copies);
    // Another sender and another mailbox under the same message id are other deliveries.
    const other = agent(alpha, 'bob');
    const reused = await send([
      await seal(alpha, { from: other, to: [bob.address], draft: { message_id } }),
      await seal(alpha, { from: ada, to: [agent(beta, 'ada').address], draft: { message_id } }),
    ]);
    expect(reused.results.map(({ result }) => result)).toEqual(['accepted', 'accepted']);
  });

  it('has one bad item refused beside good ones, whatever is wrong with it (D5)', async () => {
    const good = () => seal(alpha, { from: ada, to: [bob.address] });
    const now = alpha.home.clock.now();
    const at = (ms: number) => formatInstant(new Date(now.getTime() + ms));
    const tampered = { ...(await good()), body: '{"text":"changed"}' };
    const items = [
      await good(),
      tampered,
      await seal(alpha, {
        from: ada,
        to: [bob.address],
        draft: { sender: bob.address, key_id: (await keyOf(ada)) as never },
      }),
      await seal(alpha, { from: ada, to: [bob.address], draft: { issued_at: at(-9_000), expires_at: at(-1) } }),
      await seal(alpha, {
        from: ada,
        to: [bob.address],
        draft: { expires_at: at(LIMITS.envelopeLifetimeMs + 60_000) },
      }),
      await seal(alpha, { from: ada, to: ['agent://beta.test/agents/nobody'] }),
      { header: 7 },
      await seal(alpha, { from: ada, to: [bob.address], body: { text: 'x', more: 1 } }),
      await seal(alpha, { from: ada, to: [bob.address], draft: { conversation_id: newConversation(beta, bob) } }),
      await good(),
    ];
    const before = (await stored(bob)).length;
    const { status, results } = await send(items);
    expect(status).toBe(200);
    expect(results.map(({ result, code }) => code ?? result)).toEqual([
      'accepted',
      'body_digest_mismatch',
      'sender_mismatch',
      'expired',
      'lifetime_too_long',
      'recipient_unavailable',
      'envelope_malformed',
      'interaction_invalid',
      'mint_foreign_domain',
      'accepted',
    ]);
    expect((await stored(bob)).length).toBe(before + 2);
    const uncertified = await send([await good()], { certificates: [] });
    expect(uncertified.results[0]?.code).toBe('certificate_missing');
  });

  it('loses only the item that the database refuses', async () => {
    const poison = await seal(alpha, { from: ada, to: [bob.address], body: { text: 'poison' } });
    await beta.home.db.sql.unsafe(`
      create function refuse_poison() returns trigger language plpgsql as $$
      begin if new.data #>> '{body,text}' = 'poison' then raise exception 'poisoned'; end if; return new; end $$;
      create trigger refuse_poison before insert on foundation.inputs for each row execute function refuse_poison();`);
    const before = (await stored(bob)).length;
    const good = () => seal(alpha, { from: ada, to: [bob.address] });
    const { results } = await send([await good(), poison, await good()]);
    expect(results.map(({ result, code }) => code ?? result)).toEqual(['accepted', 'internal', 'accepted']);
    expect((await stored(bob)).length).toBe(before + 2);
  });

  it('does not let an outsider into a conversation, or somebody else open one for us (D3)', async () => {
    const conversation_id = newConversation(alpha, ada);
    await send([await seal(alpha, { from: ada, to: [bob.address], draft: { conversation_id } })]);
    const intruder = await seal(beta, { from: agent(beta, 'ada'), to: [ada.address], draft: { conversation_id } });
    const opened = await sendRaw(world, { from: beta, to: alpha, envelopes: [intruder] });
    expect(opened.results[0]?.code).toBe('mint_foreign_domain');
    await sendRaw(world, {
      from: alpha,
      to: alpha,
      envelopes: [await seal(alpha, { from: agent(alpha, 'bob'), to: [ada.address], draft: { conversation_id } })],
    });
    const again = await seal(beta, { from: agent(beta, 'ada'), to: [ada.address], draft: { conversation_id } });
    const joined = await sendRaw(world, { from: beta, to: alpha, envelopes: [again] });
    expect(joined.results[0]?.code).toBe('conversation_not_member');
  });
});

describe('one transaction id has one answer (BR-17)', () => {
  it('ten copies at once are one set of effects and ten equal answers', async () => {
    const envelopes = [
      await seal(alpha, { from: ada, to: [bob.address] }),
      await seal(alpha, { from: ada, to: [bob.address] }),
    ];
    const id = newTransactionId(alpha);
    const before = (await stored(bob)).length;
    // Certificates are given once, so that the ten bodies are the same bytes.
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(envelopes, { id })));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(answers[0]?.results.map(({ result }) => result)).toEqual(['accepted', 'accepted']);
    expect((await stored(bob)).length).toBe(before + 2);
    const later = await send(envelopes, { id });
    expect(later.body).toBe(answers[0]?.body);
    const conflict = await send([], { id });
    expect([conflict.status, conflict.code]).toEqual([409, 'transaction_conflict']);
  });

  it('a holder that died before signing leaves results that the next repeat signs, unchanged', async () => {
    const envelopes = [await seal(alpha, { from: ada, to: [bob.address] })];
    const id = newTransactionId(alpha);
    const first = await send(envelopes, { id });
    await beta.home.db.sql`
      update federation.inbound_transactions
         set answer = null, claim = 'dead', claimed_until = hearth_lease_now() + interval '700 milliseconds'
       where transaction_id = ${id}`;
    const host = living(beta);
    const second = await send(envelopes, { id });
    await host.stop();
    expect(second.results).toEqual(first.results);
  });

  it('a holder that died before deciding is taken over, and the item is stored once', async () => {
    const envelopes = [await seal(alpha, { from: ada, to: [bob.address] })];
    const id = newTransactionId(alpha);
    const before = (await stored(bob)).length;
    await send(envelopes, { id });
    await beta.home.db.sql`
      update federation.inbound_transactions
         set answer = null, results = null, claim = 'dead', claimed_until = hearth_lease_now()
       where transaction_id = ${id}`;
    const second = await send(envelopes, { id });
    expect(second.results[0]?.result).toBe('duplicate');
    expect((await stored(bob)).length).toBe(before + 1);
  });
});

describe('a request that is not what it says', () => {
  it('is refused as a whole and stores nothing: replayed, altered, unsigned, misdirected, of unknown origin', async () => {
    const before = (await stored(bob)).length;
    const envelope = await seal(alpha, { from: ada, to: [bob.address] });
    const request = await signRaw({ from: alpha, to: beta, envelopes: [] });
    expect((await world.network.http.request(request)).status).toBe(200);
    const replay = readAnswer(await world.network.http.request(request));
    expect([replay.status, replay.code]).toEqual([401, 'replayed']);
    const altered = await signRaw({ from: alpha, to: beta, envelopes: [envelope] });
    const tampered = { ...altered, body: Buffer.concat([altered.body, Buffer.from(' ')]) };
    expect(readAnswer(await world.network.http.request(tampered)).code).toBe('digest_mismatch');
    const unsigned = await send([envelope], {
      change: ({ signature: _gone, ...rest }: Record<string, string>) => rest,
    });
    expect([unsigned.status, unsigned.code]).toEqual([401, 'signature_invalid']);
    const misdirected = await send([envelope], {
      change: (h: Record<string, string>) => ({ ...h, 'fed-destination': 'gamma.test' }),
    });
    expect(misdirected.code).toBe('wrong_destination');
    const forged = await send([envelope], {
      change: (h: Record<string, string>) => ({ ...h, 'fed-origin': 'gamma.test' }),
    });
    expect(forged.status).toBe(401);
    const encoded = await send([envelope], {
      change: (h: Record<string, string>) => ({ ...h, 'content-encoding': 'gzip' }),
    });
    expect(encoded.code).toBe('unsupported_media_type');
    expect((await stored(bob)).length).toBe(before);
  });

  it('takes 1,000 recipients in a transaction and refuses 1,001', async () => {
    const names = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => `agent://beta.test/agents/n${from + n}`);
    const full = await Promise.all(
      Array.from({ length: 20 }, (_, n) => seal(alpha, { from: ada, to: names(50 * n, 50) })),
    );
    expect((await send(full)).results).toHaveLength(1_000);
    const over = await send([...full, await seal(alpha, { from: ada, to: [bob.address] })]);
    expect([over.status, over.code]).toEqual([413, 'too_large']);
  });
});

describe('a blocked origin', () => {
  it('gets the answer of a missing recipient, and delivery resumes once it is pinned again', async () => {
    await blockPeer(beta.gateway.peers, { domain: alpha.name, actor: 'test' });
    const envelope = await seal(alpha, { from: ada, to: [bob.address] });
    const blocked = await send([envelope]);
    expect(blocked.results[0]).toMatchObject({ result: 'rejected', code: 'recipient_unavailable' });
    await pinPeer(beta.gateway.peers, { domain: alpha.name, fingerprint: alpha.fingerprint, actor: 'test' });
    expect((await send([envelope])).results[0]?.result).toBe('accepted');
  });
});

async function keyOf(principal: Principal): Promise<string> {
  const [row] = await alpha.home.db.sql<{ keyRef: string }[]>`
    select key_ref from home.principal_keys where home = ${principal.home}`;
  return row?.keyRef ?? '';
}
