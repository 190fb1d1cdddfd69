// What the target sends: its requests, transactions, certificates and envelopes, taken apart and verified.
import { found, holds, same } from '../expect.js';
import { type ArrivedTransaction, attemptsAt } from '../peer/arrivals.js';
import type { Checks, Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { contentDigestOf } from '../wire/encoding.js';
import { nonceBytesOf, putComponents } from '../wire/http-signature.js';
import { isId } from '../wire/ids.js';
import { memberOf, textOf } from '../wire/json.js';
import { eventually } from '../wire/time.js';
import { certificatesIn, judgeCertificates, judgeEnvelope } from './sent-envelope.js';

export const sending: Scenario = {
  name: 'sending',
  about: "the target's own messages are signed, certified and framed as the specification has them",
  needs: ['operator'],
  checks: [
    ...[
      'REQUESTS-1',
      'REQUESTS-2',
      'REQUESTS-4',
      'REQUESTS-5',
      'REQUESTS-7',
      'REQUESTS-10',
      'REQUESTS-11',
      'REQUESTS-12',
    ],
    ...['REQUESTS-13', 'REQUESTS-14', 'REQUESTS-15', 'DELIVERY-1', 'DELIVERY-2', 'DELIVERY-7', 'DELIVERY-8'],
    ...[
      'ENVELOPE-1',
      'ENVELOPE-2',
      'ENVELOPE-3',
      'ENVELOPE-4',
      'ENVELOPE-7',
      'ENVELOPE-9',
      'ENVELOPE-11',
      'ENVELOPE-14',
    ],
    ...['ENVELOPE-16', 'ENVELOPE-17', 'ENVELOPE-18', 'KEYS-7', 'KEYS-30', 'KEYS-31', 'KEYS-32', 'KEYS-33'],
    ...['NAMES-8', 'NAMES-12', 'NAMES-13', 'ENCODING-7', 'ENCODING-8', 'ENCODING-9', 'ENCODING-11'],
  ],
  async run(stage, checks) {
    const first = await say(stage, {});
    await judgeRequest(stage, checks, first.transaction);
    await judgeFrame(stage, checks, first.transaction);
    await judgeEnvelope(stage, checks, first);
    const second = await say(stage, { conversation_id: first.conversationId });
    await judgePair(checks, [first.transaction, second.transaction]);
    await checks.check('ENVELOPE-17', 'prev is empty for the first and names it in the second', () => {
      same(textOf(headerIn(first.transaction, first.messageId), 'prev'), '', 'prev of the first');
      same(textOf(headerIn(second.transaction, second.messageId), 'prev'), first.messageId, 'prev of the second');
    });
    await checks.check('ENVELOPE-18', 'two messages have two ids', () =>
      holds(first.messageId !== second.messageId, 'they have one'),
    );
  },
};

export interface Said {
  readonly messageId: string;
  readonly conversationId: string;
}

/** The operator of the target says something to a played agent. */
export async function speak({ door }: Stage, to: string, body: Record<string, unknown> = {}): Promise<Said> {
  const sent = await door.ask('POST', '/v1/messages', {
    body: { to, type: 'message', body: { text: 'hello' }, ...body },
  });
  same(sent.status, 202, `the status of the operator's message (${textOf(sent.json, 'code')})`);
  return {
    messageId: textOf(sent.json, 'result', 'message_id'),
    conversationId: textOf(sent.json, 'result', 'conversation_id'),
  };
}

async function say(stage: Stage, body: Record<string, unknown>): Promise<Said & { transaction: ArrivedTransaction }> {
  const { peer, target } = stage;
  const said = await speak(stage, peer.agent('one').address, body);
  const transaction = await eventually(() => attemptsAt(peer, target, said.messageId)[0], 10_000);
  return { ...said, transaction: found(transaction, 'the message did not come') };
}

function headerIn({ envelopes }: ArrivedTransaction, messageId: string): unknown {
  return envelopes.find((envelope) => envelope.messageId === messageId)?.header;
}

async function judgeRequest({ peer, target }: Stage, { check }: Checks, sent: ArrivedTransaction): Promise<void> {
  const { signature, request } = sent;
  const field = (name: string) =>
    request.fields.filter(([known]) => known.toLowerCase() === name).map(([, value]) => value);
  const { parameters } = signature;
  await check('REQUESTS-1', 'one signature with the tag', () =>
    same(parameters.get('tag'), 'agent-federation/1', 'tag'),
  );
  await check('REQUESTS-2', 'it covers exactly the components of a PUT', () =>
    same([...signature.components].sort().join(' '), [...putComponents].sort().join(' '), 'the components'),
  );
  await check('REQUESTS-4', 'every parameter is there', () => {
    for (const name of ['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'])
      holds(parameters.has(name), `${name} is missing`);
    same(parameters.get('alg'), 'ed25519', 'alg');
  });
  await check('REQUESTS-5', 'the window is 300 s at most', () => {
    const seconds = Number(parameters.get('expires')) - Number(parameters.get('created'));
    holds(seconds > 0 && seconds <= 300, `it is ${seconds} s`);
  });
  await check('REQUESTS-7', 'the nonce is long enough', () =>
    holds(nonceBytesOf(signature) >= 16 && nonceBytesOf(signature) <= 64, `it has ${nonceBytesOf(signature)} bytes`),
  );
  await check('REQUESTS-10', 'keyid is a domain key of the target', () => {
    const [, domain, kid = ''] = /^key:\/\/([^/]+)\/domain\/(.+)$/.exec(parameters.get('keyid') ?? '') ?? [];
    same(domain, target.domain, 'its domain');
    holds(target.keys.has(kid), `${kid} is not in the bundle`);
    same(field('fed-origin')[0], target.domain, 'fed-origin');
  });
  await check('REQUESTS-11', 'content-digest is that of the body', () =>
    same(field('content-digest')[0], contentDigestOf(request.body), 'content-digest'),
  );
  await check('REQUESTS-12', 'the signature holds over the advertised URL', () =>
    same(signature.fault, undefined, 'the fault'),
  );
  await check('REQUESTS-13', 'fed-destination is the domain it is sent to', () =>
    same(field('fed-destination')[0], peer.name, 'fed-destination'),
  );
  await check('REQUESTS-14', 'each covered field appears once and is short', () => {
    for (const name of [
      'content-digest',
      'content-type',
      'fed-origin',
      'fed-destination',
      'signature',
      'signature-input',
    ]) {
      same(field(name).length, 1, `the number of ${name}`);
      holds((field(name)[0] ?? '').length <= 2_048, `${name} is too long`);
    }
  });
  await check('REQUESTS-15', 'the body is application/json without encoding', () => {
    same(field('content-type')[0], 'application/json', 'content-type');
    same(field('content-encoding').filter((value) => value !== 'identity').length, 0, 'the number of encodings');
  });
}

async function judgeFrame({ peer, target }: Stage, { check }: Checks, sent: ArrivedTransaction): Promise<void> {
  const { frame, id, envelopes } = sent;
  await check('DELIVERY-1', 'the transaction id has its form', () => holds(isId('txn', id), `${id} has not`));
  await check('DELIVERY-2', 'origin and destination are the two domains', () => {
    same(textOf(frame, 'origin'), target.domain, 'origin');
    same(textOf(frame, 'destination'), peer.name, 'destination');
  });
  const certificates = certificatesIn(frame);
  await check('DELIVERY-7', 'each envelope has its certificate, issued just now', () => {
    for (const { header } of envelopes) {
      const own = found(
        certificates.find((jws) => textOf(jws.payload, 'kid') === textOf(header, 'key_id')),
        'it has none',
      );
      const age = Date.now() / 1000 - Number(memberOf(own.payload, 'iat'));
      holds(age < 600 + 30, `it is ${Math.round(age)} s old`);
    }
  });
  await judgeCertificates(target, check, certificates);
}

/** What shows only when a second message follows the first. */
async function judgePair({ check }: Checks, [first, second]: [ArrivedTransaction, ArrivedTransaction]): Promise<void> {
  await check('REQUESTS-7', 'the nonce is a new one each time', () =>
    holds(first.signature.parameters.get('nonce') !== second.signature.parameters.get('nonce'), 'it came twice'),
  );
  await check('DELIVERY-1', 'two bodies have two transaction ids', () =>
    holds(first.id !== second.id, `both are ${first.id}`),
  );
  await check('DELIVERY-8', 'the incarnation stays the same', () => {
    holds(textOf(first.frame, 'incarnation') !== '', 'it names none');
    same(textOf(second.frame, 'incarnation'), textOf(first.frame, 'incarnation'), 'incarnation');
  });
}
