import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCommitment, readReceiptsOf, sendTransaction } from '../../src/federation/index.js';
import { listMessages } from '../../src/home/index.js';
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

const exchange = async () => {
  await deliver(alpha, beta.name);
  await deliver(beta, alpha.name);
};
const stateAt = async (domain: TestDomain, who: string, commitmentId: string) => {
  const found = await readCommitment(domain.home.db.sql, {
    home: agent(domain, who).home,
    commitmentId,
    now: domain.gateway.clock.now(),
  });
  return found;
};

describe('a promise between two domains (D14, D15)', () => {
  it('goes from request over accept and report to fulfilled, with the same signed log on both sides', async () => {
    const ada = agent(alpha, 'ada');
    const bob = agent(beta, 'bob');
    const request = await say(alpha, {
      from: ada,
      to: bob,
      type: 'request',
      input: { action: 'review', subject: 'pull/1' },
    });
    const id = request.commitment_id ?? '';
    await exchange();
    expect((await stateAt(beta, 'bob', id))?.view.state).toBe('proposed');

    await say(beta, { from: bob, to: ada, type: 'accept', input: { commitment_id: id } });
    await exchange();
    expect((await stateAt(alpha, 'ada', id))?.view.state).toBe('active');

    const report = { commitment_id: id, summary: 'looks good', evidence: [{ name: 'review', content: 'LGTM' }] };
    await say(beta, { from: bob, to: ada, type: 'report', input: report });
    await exchange();
    expect((await stateAt(alpha, 'ada', id))?.view.state).toBe('reported');

    await say(alpha, { from: ada, to: bob, type: 'accept', input: { commitment_id: id } });
    await exchange();
    const [ours, theirs] = [await stateAt(alpha, 'ada', id), await stateAt(beta, 'bob', id)];
    expect([ours?.view.state, theirs?.view.state]).toEqual(['fulfilled', 'fulfilled']);
    const bytes = (found: typeof ours) =>
      found?.transitions.map(({ header, signature, body }) => [header, signature, body].join());
    expect(bytes(ours)).toEqual(bytes(theirs));
    expect(ours?.transitions.map(({ kind }) => kind)).toEqual([
      'request',
      'accept_proposal',
      'report',
      'accept_report',
    ]);
    expect(theirs?.row.localAssessment).toBe('fulfilled');
  });

  it('a delivery receipt states storage and implies no acceptance (D8)', async () => {
    const [ada, bob] = [agent(alpha, 'ada'), agent(beta, 'bob')];
    const sent = await say(alpha, {
      from: ada,
      to: bob,
      type: 'request',
      input: { action: 'review', subject: 'pull/2' },
    });
    await deliver(alpha, beta.name);
    const receipts = await readReceiptsOf(alpha.home.db.sql, { home: ada.home, messageId: sent.message_id ?? '' });
    expect(receipts.map(({ type, direction }) => [type, direction])).toEqual([['delivery.accepted', 'received']]);
    expect((await stateAt(alpha, 'ada', sent.commitment_id ?? ''))?.view.state).toBe('proposed');
  });

  it('an accept by a third party, for an unknown promise, or twice makes nothing (BR-63)', async () => {
    const [ada, bob] = [agent(alpha, 'ada'), agent(beta, 'bob')];
    const sent = await say(alpha, {
      from: ada,
      to: bob,
      type: 'request',
      input: { action: 'review', subject: 'pull/3' },
    });
    const id = sent.commitment_id ?? '';
    await deliver(alpha, beta.name);
    const outsider = agent(beta, 'ada');
    await expect(say(beta, { from: outsider, to: ada, type: 'accept', input: { commitment_id: id } })).rejects.toThrow(
      /commitment_unknown/,
    );
    await expect(
      say(alpha, { from: ada, to: bob, type: 'accept', input: { commitment_id: id, accepts: 'proposal' } }),
    ).rejects.toThrow(/wrong_party/);
    await say(beta, { from: bob, to: ada, type: 'accept', input: { commitment_id: id } });
    await expect(say(beta, { from: bob, to: ada, type: 'accept', input: { commitment_id: id } })).rejects.toThrow(
      /wrong_state/,
    );
    await exchange();
    expect((await stateAt(alpha, 'ada', id))?.transitions).toHaveLength(2);
  });

  it('keeps the same set of transitions on both sides when the parties act at once over a partition (D15)', async () => {
    const [ada, bob] = [agent(alpha, 'ada'), agent(beta, 'bob')];
    const sent = await say(alpha, {
      from: ada,
      to: bob,
      type: 'request',
      input: { action: 'review', subject: 'pull/4' },
    });
    const commitment_id = sent.commitment_id ?? '';
    await exchange();
    await say(beta, { from: bob, to: ada, type: 'accept', input: { commitment_id } });
    await say(beta, { from: bob, to: ada, type: 'report', input: { commitment_id, summary: 'first' } });
    await exchange();
    // Neither side sees the other's next step: a second report, and the acceptance of the first.
    await say(beta, { from: bob, to: ada, type: 'report', input: { commitment_id, summary: 'second' } });
    await say(alpha, { from: ada, to: bob, type: 'accept', input: { commitment_id } });
    await exchange();
    const [ours, theirs] = [await stateAt(alpha, 'ada', commitment_id), await stateAt(beta, 'bob', commitment_id)];
    const set = (found: typeof ours) => found?.transitions.map(({ messageId }) => messageId).sort();
    expect(set(ours)).toEqual(set(theirs));
    expect(ours?.transitions).toHaveLength(5);
    expect([ours?.view.state, theirs?.view.state]).toEqual(['fulfilled', 'fulfilled']);
  });

  it('the same proposal said again finds the first message (F12)', async () => {
    const [ada, bob] = [agent(alpha, 'ada'), agent(beta, 'bob')];
    const first = await say(alpha, { from: ada, to: bob, type: 'message', input: { text: 'once' }, id: 'same' });
    const again = await say(alpha, { from: ada, to: bob, type: 'message', input: { text: 'once' }, id: 'same' });
    expect(again).toEqual(first);
  });

  it('names the previous message of the conversation in prev, also when several are said at once (D9)', async () => {
    const [ada, bob] = [agent(alpha, 'ada'), agent(beta, 'bob')];
    const opened = await say(alpha, { from: ada, to: bob, type: 'message', input: { text: 'start' } });
    const conversation_id = opened.conversation_id ?? '';
    await Promise.all(
      [1, 2, 3, 4].map((n) =>
        say(alpha, { from: ada, to: bob, type: 'message', input: { text: `n${n}`, conversation_id } }),
      ),
    );
    await exchange();
    const page = await listMessages(beta.home.db.sql, bob.home, { limit: 200 });
    const headers = page.messages
      .filter((message) => message.conversationId === conversation_id)
      .map((message) => JSON.parse(Buffer.from(message.header).toString()) as { message_id: string; prev: string });
    expect(headers).toHaveLength(5);
    expect(headers.map(({ prev }) => prev)).toEqual(['', ...headers.slice(0, -1).map(({ message_id }) => message_id)]);
  });

  it('refuses what could never be delivered: an unpinned domain, itself, a foreign mint', async () => {
    const ada = agent(alpha, 'ada');
    const send = (to: string, input = {}) =>
      say(alpha, { from: ada, to, type: 'message', input: { text: 'x', ...input } });
    await expect(send('agent://gamma.test/agents/x')).rejects.toThrow(/peer_unknown/);
    await expect(send(ada.address)).rejects.toThrow(/proposal_invalid/);
    await expect(send('not an address')).rejects.toThrow(/proposal_invalid/);
    const foreign = `cmt_beta.test_${ada.home}_01arz3ndektsv4rrffq69g5fav`;
    await expect(
      say(alpha, {
        from: ada,
        to: agent(beta, 'bob'),
        type: 'request',
        input: { action: 'a', subject: 's', commitment_id: foreign },
      }),
    ).rejects.toThrow(/proposal_invalid/);
    expect(await sendTransaction(alpha.gateway, beta.name, new AbortController().signal)).toBe('nothing');
  });
});
