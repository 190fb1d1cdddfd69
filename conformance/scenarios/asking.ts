// A played agent asks, the target's agent promises and reports: what the target signs in answer, and what it takes back.
import { found, holds, refused, rejected, resultIs, same } from '../expect.js';
import { type ArrivedEnvelope, arrival } from '../peer/arrivals.js';
import { type EnvelopeDraft, type PlayedEnvelope, sealEnvelope } from '../peer/played-agent.js';
import type { Checks, Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { canonicalJson } from '../wire/canonical-json.js';
import { digestOf, signingBytes } from '../wire/encoding.js';
import { mintId } from '../wire/ids.js';
import { listOf, memberOf, parseJson, textOf } from '../wire/json.js';
import { jwsFault, readCompactJws } from '../wire/jws.js';
import { verifies } from '../wire/keys.js';
import { proposalOf } from './interactions.js';

export const asking: Scenario = {
  name: 'asking',
  about: "a request of ours becomes a promise of the target's agent, a report, and is fulfilled by our acceptance",
  needs: ['reachable', 'pinned'],
  checks: [
    ...[1, 2, 5, 6, 8, 9, 16, 17].map((number) => `COMMITMENTS-${number}`),
    ...['INTERACTIONS-5', 'INTERACTIONS-10', 'INTERACTIONS-12', 'INTERACTIONS-14', 'NAMES-14', 'ENVELOPE-17'],
  ],
  async run(stage, checks) {
    const { peer, target, answerer } = stage;
    const from = peer.agent('one');
    const request = sealEnvelope({ from, to: [answerer], type: 'request', body: { proposal: proposalOf(peer) } });
    resultIs(await peer.put({ envelopes: [request.wire] }), 'accepted');
    const commitmentId = textOf(parseJson(request.body), 'proposal', 'commitment_id');
    const answerOf = (type: string) =>
      arrival(
        peer,
        target,
        (envelope) => envelope.type === type && textOf(envelope.content, 'commitment_id') === commitmentId,
      );
    const accept = found(await answerOf('accept'), 'no acceptance came');
    const report = found(await answerOf('report'), 'no report came');
    await judgeAnswers(checks, { request, accept, report });
    await takeBack(stage, checks, { request, report, commitmentId });
    await readLog(stage, checks, commitmentId);
    await unanswered(stage, checks);
  },
};

type Answers = { request: PlayedEnvelope; accept: ArrivedEnvelope; report: ArrivedEnvelope };

async function judgeAnswers({ check }: Checks, { request, accept, report }: Answers): Promise<void> {
  const proposal = memberOf(parseJson(request.body), 'proposal');
  await check('COMMITMENTS-6', 'the acceptance names id, version and digest of the proposal', () => {
    same(textOf(accept.content, 'accepts'), 'proposal', 'accepts');
    same(textOf(accept.content, 'proposal_id'), textOf(proposal, 'proposal_id'), 'proposal_id');
    same(memberOf(accept.content, 'version'), 1, 'version');
    same(textOf(accept.content, 'proposal_digest'), request.bodyDigest, 'proposal_digest');
  });
  await check('INTERACTIONS-12', 'the report names the digest of the exact bytes of the proposal', () =>
    same(textOf(report.content, 'proposal_digest'), request.bodyDigest, 'proposal_digest'),
  );
  await check('COMMITMENTS-5', "previous names the author's last transition, and is empty for its first", () => {
    same(textOf(accept.content, 'previous'), '', 'previous of the acceptance');
    same(textOf(report.content, 'previous'), accept.headerDigest, 'previous of the report');
  });
  await check('INTERACTIONS-5', 'the bodies have the members of their types and no others', () => {
    const members = (content: unknown) => Object.keys(Object(content)).sort().join(' ');
    same(members(accept.content), 'accepts commitment_id previous proposal_digest proposal_id version', 'the members');
    same(members(report.content), 'commitment_id evidence previous proposal_digest summary', 'the members');
  });
  await check('INTERACTIONS-14', 'the evidence in the report has the digest of its content', () => {
    for (const piece of listOf(report.content, 'evidence')) {
      const content = memberOf(piece, 'content');
      if (typeof content === 'string') same(textOf(piece, 'digest'), digestOf(content), 'the digest');
    }
  });
  await check('ENVELOPE-17', 'the answers stand in the conversation of the request, one after the other', () => {
    same(textOf(accept.header, 'conversation_id'), request.conversationId, 'conversation_id');
    same(textOf(accept.header, 'prev'), '', 'prev of the first');
    same(textOf(report.header, 'prev'), accept.messageId, 'prev of the second');
  });
}

type Reported = { request: PlayedEnvelope; report: ArrivedEnvelope; commitmentId: string };

async function takeBack({ peer, answerer }: Stage, { check }: Checks, reported: Reported): Promise<void> {
  const { request, report, commitmentId } = reported;
  const send = (body: object, draft: Partial<EnvelopeDraft> = {}) => {
    const header = { conversation_id: request.conversationId, prev: request.messageId, ...draft.header };
    const sealed = sealEnvelope({ from: peer.agent('one'), to: [answerer], type: 'accept', body, ...draft, header });
    return peer.put({ envelopes: [sealed.wire] });
  };
  const acceptance = {
    accepts: 'report',
    commitment_id: commitmentId,
    report_message_id: report.messageId,
    report_digest: report.bodyDigest,
    previous: request.headerDigest,
  };
  await check('COMMITMENTS-8', 'an acceptance of another digest is refused', async () =>
    rejected(await send({ ...acceptance, report_digest: digestOf('another report') }), ['commitment_wrong_digest']),
  );
  await check('COMMITMENTS-8', 'an acceptance of another message is refused', async () =>
    rejected(await send({ ...acceptance, report_message_id: mintId('msg', 'other') }), ['commitment_wrong_digest']),
  );
  await check('COMMITMENTS-5', 'an acceptance with another previous is refused', async () =>
    rejected(await send({ ...acceptance, previous: '' }), ['commitment_previous_mismatch']),
  );
  await check('COMMITMENTS-2', 'an acceptance by somebody else is refused', async () =>
    rejected(await send(acceptance, { from: peer.agent('two') }), ['commitment_wrong_party']),
  );
  await check('COMMITMENTS-8', 'the acceptance that names the report exactly is taken', async () =>
    resultIs(await send(acceptance), 'accepted'),
  );
  await check('COMMITMENTS-2', 'a second acceptance has no place in the final state', async () =>
    rejected(await send(acceptance), ['commitment_wrong_state']),
  );
}

async function readLog(stage: Stage, { check }: Checks, commitmentId: string): Promise<void> {
  const { peer, target } = stage;
  const path = `/federation/v1/commitments/${commitmentId}/transitions`;
  const log = await peer.get(path);
  const transitions = listOf(log.json, 'transitions');
  await check('COMMITMENTS-16', "the domain of a party reads the target's log", () => {
    same(log.status, 200, 'the status');
    same(textOf(log.json, 'commitment_id'), commitmentId, 'commitment_id');
    same(transitions.length, 4, 'the number of transitions');
  });
  await check('COMMITMENTS-1', 'each entry is the signed envelope with the certificate that proves it', () => {
    const own = new Map([[peer.key.kid, peer.key.jwk.x], ...target.keys]);
    holds(transitions.length > 0, 'there is none');
    for (const entry of transitions) {
      const certificate = readCompactJws(textOf(entry, 'certificate'));
      same(jwsFault(certificate, 'agent-key+jwt', own), undefined, 'the fault of the certificate');
      const x = textOf(certificate?.payload, 'cnf', 'jwk', 'x');
      const signature = Buffer.from(textOf(entry, 'signature').replace(/^ed25519\./, ''), 'base64url');
      holds(verifies(x, signingBytes('envelope', textOf(entry, 'header')), signature), 'the signature does not hold');
      const header = parseJson(textOf(entry, 'header'));
      same(canonicalJson(header), textOf(entry, 'header'), 'the header');
      same(textOf(header, 'body_digest'), digestOf(textOf(entry, 'body')), 'body_digest');
      same(textOf(header, 'sender'), textOf(certificate?.payload, 'sub'), 'the sender');
    }
  });
  await check('COMMITMENTS-17', 'the log goes on after a position', async () => {
    const position = memberOf(transitions[1], 'position');
    const rest = await peer.get(`${path}?after=${position}`);
    const positions = listOf(rest.json, 'transitions').map((entry) => memberOf(entry, 'position'));
    same(
      JSON.stringify(positions),
      JSON.stringify(transitions.slice(2).map((entry) => memberOf(entry, 'position'))),
      'what came',
    );
    same(memberOf(rest.json, 'next'), positions.at(-1), 'next');
  });
  await check('COMMITMENTS-16', 'a stranger is answered as if there were no such commitment', async () => {
    const stranger = stage.play('stranger');
    const [there, nowhere] = [
      await stranger.get(path),
      await peer.get(path.replace(commitmentId, mintId('cmt', 'x', peer.name))),
    ];
    refused(there, 404, 'not_found');
    refused(nowhere, 404, 'not_found');
  });
  await check('NAMES-14', 'who knows the id of a commitment does not see it for that', async () =>
    refused(await stage.play('stranger').get(path), 404),
  );
}

/** An agent that does not answer: everything that nobody promised is refused. */
async function unanswered({ peer, quiet }: Stage, { check }: Checks): Promise<void> {
  const from = peer.agent('one');
  const request = sealEnvelope({ from, to: [quiet], type: 'request', body: { proposal: proposalOf(peer) } });
  const proposal = memberOf(parseJson(request.body), 'proposal');
  const binding = {
    commitment_id: textOf(proposal, 'commitment_id'),
    proposal_id: textOf(proposal, 'proposal_id'),
    version: 1,
    proposal_digest: request.bodyDigest,
  };
  const send = (type: string, body: object) => {
    const header = { conversation_id: request.conversationId };
    return peer.put({ envelopes: [sealEnvelope({ from, to: [quiet], type, body, header }).wire] });
  };
  await check('INTERACTIONS-10', 'a request to one recipient is taken', async () =>
    resultIs(await peer.put({ envelopes: [request.wire] }), 'accepted'),
  );
  await check('COMMITMENTS-2', 'the creditor does not accept its own proposal', async () =>
    rejected(await send('accept', { accepts: 'proposal', ...binding, previous: request.headerDigest }), [
      'commitment_wrong_party',
    ]),
  );
  await check('COMMITMENTS-9', 'an acceptance for a commitment that nobody asked for makes nothing', async () => {
    const unknown = { ...binding, commitment_id: mintId('cmt', from.tag, peer.name) };
    rejected(await send('accept', { accepts: 'proposal', ...unknown, previous: '' }), ['commitment_unknown']);
  });
  await check('COMMITMENTS-2', 'a second request for the same commitment is refused', async () => {
    const body = { proposal: { ...Object(proposal), proposal_id: mintId('prop', from.tag) } };
    rejected(await send('request', body), ['commitment_wrong_state', 'commitment_previous_mismatch']);
  });
}
