// The target's operator asks a played agent: what the target takes as a promise, as a report, and as their end.
import { found, holds, rejected, resultIs, same } from '../expect.js';
import { type ArrivedEnvelope, arrival } from '../peer/arrivals.js';
import { certificateOf, type EnvelopeDraft, sealEnvelope } from '../peer/played-agent.js';
import type { TransactionReply } from '../peer/played-domain.js';
import type { Checks, Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { base64url, digestOf } from '../wire/encoding.js';
import { mintId, principalIdOf } from '../wire/ids.js';
import { listOf, memberOf, textOf } from '../wire/json.js';
import { eventually, instantIn } from '../wire/time.js';

interface Asked {
  readonly commitmentId: string;
  readonly conversationId: string;
  readonly request: ArrivedEnvelope;
  readonly binding: Readonly<Record<string, unknown>>;
  /** One envelope of agent `one` in the conversation of the request, unless changed. */
  send(
    draft: Partial<EnvelopeDraft>,
    certificates?: readonly string[],
  ): Promise<TransactionReply & { headerDigest: string; messageId: string }>;
  state(): Promise<string>;
}

export const promising: Scenario = {
  name: 'promising',
  about: "a request of the target's operator: only the exact answer of the right party makes or ends a promise",
  needs: ['operator'],
  checks: [
    ...[2, 4, 5, 6, 7, 8, 10, 11, 12, 13].map((number) => `COMMITMENTS-${number}`),
    ...['INTERACTIONS-3', 'INTERACTIONS-6', 'INTERACTIONS-9', 'NAMES-10', 'NAMES-11', 'NAMES-13', 'ENVELOPE-20'],
  ],
  async run(stage, checks) {
    const asked = await ask(stage, { deadline_in_s: 3_600 });
    await beforeThePromise(stage, checks, asked);
    await promise(stage, checks, asked);
    await overdue(stage, checks);
  },
};

async function ask(stage: Stage, body: Record<string, unknown>): Promise<Asked> {
  const { peer, target, door, operator } = stage;
  const one = peer.agent('one');
  const sent = await door.ask('POST', '/v1/messages', {
    body: { to: one.address, type: 'request', body: { action: 'conformance.check', subject: 'a check', ...body } },
  });
  same(sent.status, 202, `the status of the operator's request (${textOf(sent.json, 'code')})`);
  const commitmentId = textOf(sent.json, 'result', 'commitment_id');
  const messageId = textOf(sent.json, 'result', 'message_id');
  const request = found(
    await arrival(peer, target, (envelope) => envelope.messageId === messageId),
    'the request did not come',
  );
  const conversationId = textOf(request.header, 'conversation_id');
  return {
    commitmentId,
    conversationId,
    request,
    binding: {
      commitment_id: commitmentId,
      proposal_id: textOf(request.content, 'proposal', 'proposal_id'),
      version: memberOf(request.content, 'proposal', 'version'),
      proposal_digest: request.bodyDigest,
    },
    async send(draft, certificates) {
      const header = { conversation_id: conversationId, ...draft.header };
      const sealed = sealEnvelope({ from: one, to: [operator], ...draft, header });
      const reply = await peer.put({ envelopes: [sealed.wire], ...(certificates ? { certificates } : {}) });
      return { ...reply, headerDigest: sealed.headerDigest, messageId: sealed.messageId };
    },
    async state() {
      const reply = await door.ask('GET', `/v1/commitments/${commitmentId}`);
      return textOf(reply.json, 'local_assessment');
    },
  };
}

async function beforeThePromise({ peer, operator, target }: Stage, { check }: Checks, asked: Asked): Promise<void> {
  const { binding, send, state, request, commitmentId } = asked;
  const accept = (change: Record<string, unknown>, draft: Partial<EnvelopeDraft> = {}) =>
    send({ type: 'accept', body: { accepts: 'proposal', ...binding, previous: '', ...change }, ...draft });
  const two = peer.agent('two');
  await check('NAMES-13', 'conversation and commitment are minted in the name of the target', () => {
    holds(commitmentId.startsWith(`cmt_${target.domain}_`), commitmentId);
    holds(textOf(request.header, 'conversation_id').startsWith(`conv_${target.domain}_`), 'the conversation is not');
  });
  await check('COMMITMENTS-13', 'that the request was delivered does not promise anything', async () =>
    same(await state(), 'proposed', 'the state'),
  );
  await check('INTERACTIONS-6', 'a message does not change the commitment', async () => {
    resultIs(await send({ body: { text: 'I accept.', data: { accepts: 'proposal', ...binding } } }), 'accepted');
    same(await state(), 'proposed', 'the state');
  });
  await check('INTERACTIONS-3', 'free text that reads like an acceptance is none', async () => {
    const body = JSON.stringify({ accepts: 'proposal', ...binding, previous: '' });
    resultIs(await send({ body, header: { content_type: 'text/plain' } }), 'accepted');
    same(await state(), 'proposed', 'the state');
  });
  await check('COMMITMENTS-6', 'another digest, version or proposal is refused', async () => {
    rejected(await accept({ proposal_digest: digestOf('another') }), ['commitment_wrong_digest']);
    rejected(await accept({ version: 2 }), ['commitment_wrong_digest']);
    rejected(await accept({ proposal_id: mintId('prop', 'other') }), ['commitment_wrong_digest']);
  });
  await check('INTERACTIONS-9', 'who takes no part in a conversation of the target is refused', async () =>
    rejected(await send({ from: two }), ['conversation_not_member']),
  );
  await check('COMMITMENTS-2', 'somebody else does not accept for the debtor', async () => {
    const header = { conversation_id: mintId('conv', two.tag, peer.name) };
    rejected(await accept({}, { from: two, header }), ['commitment_wrong_party']);
  });
  await check('COMMITMENTS-5', 'a first transition with a previous is refused', async () =>
    rejected(await accept({ previous: digestOf('nothing') }), ['commitment_previous_mismatch']),
  );
  await check('COMMITMENTS-11', 'an acceptance in another conversation is refused', async () => {
    const header = { conversation_id: mintId('conv', peer.agent('one').tag, peer.name) };
    rejected(await accept({}, { to: [operator], header }), ['interaction_invalid']);
  });
  await check('COMMITMENTS-2', 'a report before the promise is refused', async () =>
    rejected(await send({ type: 'report', body: reportOf(asked, '') }), ['commitment_wrong_state']),
  );
}

function reportOf({ binding }: Asked, previous: string): Record<string, unknown> {
  const { commitment_id, proposal_digest } = binding;
  return { commitment_id, proposal_digest, summary: 'done', evidence: [], previous };
}

async function promise(stage: Stage, { check }: Checks, asked: Asked): Promise<void> {
  const { peer } = stage;
  const { binding, send, state, commitmentId } = asked;
  const one = peer.agent('one');
  const accepted = await send({ type: 'accept', body: { accepts: 'proposal', ...binding, previous: '' } });
  await check('COMMITMENTS-6', 'the exact acceptance of the debtor makes the promise', async () => {
    resultIs(accepted, 'accepted');
    same(await state(), 'active', 'the state');
  });
  await check('COMMITMENTS-12', 'a rejection that is dated before the acceptance does not undo it', async () => {
    const body = { ...binding, reason: 'never mind', previous: '' };
    rejected(await send({ type: 'reject', body, header: { issued_at: instantIn(-120) } }));
    same(await state(), 'active', 'the state');
  });
  const successor = {
    ...one,
    principalId: principalIdOf(one.address, peer.agent('three').key.jwk, base64url('successor')),
  };
  for (const id of ['COMMITMENTS-10', 'NAMES-11']) {
    await check(id, 'who got the address of a party is not that party', async () => {
      const report = { type: 'report', body: reportOf(asked, accepted.headerDigest), from: successor };
      rejected(await send(report, [certificateOf(successor, peer.key)]), ['commitment_wrong_party']);
    });
  }
  await check('COMMITMENTS-7', 'a report on another proposal is refused', async () => {
    const body = { ...reportOf(asked, accepted.headerDigest), proposal_digest: digestOf('another') };
    rejected(await send({ type: 'report', body }), ['commitment_wrong_digest']);
  });
  await check('COMMITMENTS-5', 'a report that does not follow the acceptance is refused', async () =>
    rejected(await send({ type: 'report', body: reportOf(asked, '') }), ['commitment_previous_mismatch']),
  );
  const report = await send({ type: 'report', body: reportOf(asked, accepted.headerDigest) });
  await check('COMMITMENTS-7', 'the report of the debtor is taken', async () => {
    resultIs(report, 'accepted');
    same(await state(), 'reported', 'the state');
  });
  await check('ENVELOPE-20', 'the log knows the debtor by its certificate, whatever a body says', async () => {
    const log = await peer.get(`/federation/v1/commitments/${commitmentId}/transitions`);
    const authors = listOf(log.json, 'transitions').map((entry) => textOf(entry, 'certificate'));
    const claims = authors.map((token) => Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    holds(
      claims.some((text) => text.includes(one.principalId)),
      'its principal id is not there',
    );
  });
  await ending(stage, { check }, { asked, reportId: report.messageId });
}

type Reported = { asked: Asked; reportId: string };

async function ending(stage: Stage, { check }: Pick<Checks, 'check'>, { asked, reportId }: Reported): Promise<void> {
  const { peer, target, door } = stage;
  const { commitmentId, conversationId, request, state } = asked;
  const one = peer.agent('one');
  const end = await door.ask('POST', '/v1/messages', {
    body: {
      to: one.address,
      type: 'accept',
      conversation_id: conversationId,
      body: { accepts: 'report', commitment_id: commitmentId },
    },
  });
  const endId = textOf(end.json, 'result', 'message_id');
  const acceptance = found(
    await arrival(peer, target, ({ messageId }) => messageId === endId),
    'no acceptance of the report came',
  );
  await check('COMMITMENTS-8', "the creditor's acceptance names the report exactly, and ends it", async () => {
    same(textOf(acceptance.content, 'report_message_id'), reportId, 'report_message_id');
    same(textOf(acceptance.content, 'previous'), request.headerDigest, 'previous');
    same(await state(), 'fulfilled', 'the state');
  });
  await check('NAMES-10', 'the principal id of the operator is the same in every certificate', async () => {
    const ids = operatorIds(stage);
    holds(ids.size === 1, `there were ${ids.size}`);
  });
}

function operatorIds({ peer, operator }: Stage): Set<string> {
  const tokens = peer.received
    .filter(({ method }) => method === 'PUT')
    .flatMap(({ body }) => listOf(JSON.parse(body.toString('utf8')), 'certificates'));
  const claims = tokens.map((token): unknown =>
    JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString('utf8')),
  );
  return new Set(
    claims.filter((claim) => textOf(claim, 'sub') === operator).map((claim) => textOf(claim, 'principal_id')),
  );
}

async function overdue(stage: Stage, { check }: Checks): Promise<void> {
  const asked = await ask(stage, { deadline_in_s: 1 });
  const { binding, send, state } = asked;
  const accepted = await send({ type: 'accept', body: { accepts: 'proposal', ...binding, previous: '' } });
  await check('COMMITMENTS-4', 'an active commitment is overdue after its deadline', async () => {
    resultIs(accepted, 'accepted');
    const after = await eventually(async () => ((await state()) === 'overdue' ? true : undefined), 4_000);
    same(after, true, 'whether it became overdue');
  });
  await check('COMMITMENTS-4', 'a late report stays possible', async () => {
    resultIs(await send({ type: 'report', body: reportOf(asked, accepted.headerDigest) }), 'accepted');
    same(await state(), 'reported', 'the state');
  });
}
