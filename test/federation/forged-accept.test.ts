import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCommitment } from '../../src/federation/index.js';
import { domainSigner, type Principal } from '../../src/home/index.js';
import { type ConversationId, signRequest, toBase64url } from '../../src/protocol/index.js';
import { agent, befriend, deliver, openWorld, say, type TestDomain, type World } from './federation-world.js';
import { newConversation, seal, sendRaw } from './raw-transaction.js';

let world: World;
let alpha: TestDomain;
let beta: TestDomain;
let ada: Principal;
let bob: Principal;

beforeAll(async () => {
  world = await openWorld(['alpha.test', 'beta.test']);
  const [first, second] = world.domains;
  if (!first || !second) throw new Error('two domains are needed');
  [alpha, beta] = [first, second];
  await befriend(alpha, beta);
  [ada, bob] = [agent(alpha, 'ada'), agent(beta, 'bob')];
});
afterAll(() => world.close());

async function open() {
  const said = await say(alpha, {
    from: ada,
    to: bob,
    type: 'request',
    input: { action: 'review', subject: 'pull/9' },
  });
  await deliver(alpha, beta.name);
  return {
    conversation: said.conversation_id as ConversationId,
    commitment: said.commitment_id ?? '',
    binding: {
      commitment_id: said.commitment_id,
      proposal_id: said.proposal_id,
      version: 1,
      proposal_digest: said.proposal_digest,
    },
  };
}

const at = async (home: Principal, commitmentId: string) =>
  (await readCommitment(alpha.home.db.sql, { home: home.home, commitmentId, now: alpha.home.clock.now() }))?.view.state;

describe('a forged accept creates nothing (BR-63)', () => {
  it('for an unknown promise, another version, another digest, out of chain, or by a third party', async () => {
    const { conversation, commitment, binding } = await open();
    const base = { accepts: 'proposal', ...binding, previous: '' };
    const accept = async (from: Principal, body: object, conversation_id = conversation) => {
      const draft = { interaction_type: 'accept', conversation_id };
      const envelope = await seal(beta, { from, to: [ada.address], body, draft });
      const { results } = await sendRaw(world, { from: beta, to: alpha, envelopes: [envelope] });
      return results[0]?.code ?? results[0]?.result;
    };
    const other = 'sha256:'.padEnd(71, '0');
    const unknown = commitment.replace(/.{4}$/, '0000');
    expect(await accept(bob, { ...base, commitment_id: unknown })).toBe('commitment_unknown');
    expect(await accept(bob, { ...base, version: 2 })).toBe('commitment_wrong_digest');
    expect(await accept(bob, { ...base, proposal_digest: other })).toBe('commitment_wrong_digest');
    expect(await accept(bob, { ...base, previous: other })).toBe('commitment_previous_mismatch');
    const third = agent(beta, 'ada');
    expect(await accept(third, base)).toBe('conversation_not_member');
    // Within a conversation of its own the third party is still no party of the promise.
    expect(await accept(third, base, newConversation(beta, third))).toBe('commitment_wrong_party');
    expect(await at(ada, commitment)).toBe('proposed');
    expect(await accept(bob, base)).toBe('accepted');
    expect(await accept(bob, base)).toBe('commitment_wrong_state');
    expect(await at(ada, commitment)).toBe('active');
    const [rows] = await alpha.home.db.sql`select count(*)::int as count from federation.commitments`;
    expect(rows?.count).toBe(1);
  });

  it('a backdated refusal does not undo a promise that stands', async () => {
    const { conversation, commitment, binding } = await open();
    await say(beta, { from: bob, to: ada, type: 'accept', input: { commitment_id: commitment } });
    await deliver(beta, alpha.name);
    const issued_at = new Date(alpha.home.clock.now().getTime() - 3_600_000).toISOString();
    const draft = { interaction_type: 'reject', conversation_id: conversation, issued_at };
    const body = { ...binding, reason: 'changed my mind', previous: '' };
    const envelope = await seal(beta, { from: bob, to: [ada.address], body, draft });
    const { results } = await sendRaw(world, { from: beta, to: alpha, envelopes: [envelope] });
    expect(results[0]?.result).toBe('rejected');
    expect(await at(ada, commitment)).toBe('active');
  });
});

describe('the log of a promise', () => {
  it('is read by a participant’s domain, each entry as signed, and by nobody else', async () => {
    const { commitment } = await open();
    const read = async (asker: TestDomain) => {
      const signer = await domainSigner(asker.home.db.sql, asker.home.custody, asker.home.domain);
      const url = `https://alpha.test/federation/v1/commitments/${commitment}/transitions?after=0`;
      const headers = await signRequest({
        method: 'GET',
        targetUri: url,
        origin: asker.name,
        destination: alpha.name,
        keyRef: signer.keyRef,
        created: asker.home.clock.now(),
        nonce: toBase64url(asker.home.random.bytes(18)),
        sign: signer.sign,
      });
      return world.network.http.request({ method: 'GET', url, headers, maxBytes: 2 ** 20, timeoutMs: 1_000 });
    };
    const log = JSON.parse(Buffer.from((await read(beta)).body).toString());
    expect(log.transitions).toHaveLength(1);
    expect(log.transitions[0]).toMatchObject({ position: 1, certificate: expect.stringMatching(/^ey/) });
    const gamma = await openWorld(['gamma.test']);
    const [third] = gamma.domains;
    if (!third) throw new Error('no third domain');
    world.network.handlers.set('gamma.test', (request) => gamma.network.http.request(request));
    expect((await read(third)).status).toBe(404);
    await gamma.close();
  });
});
