// Transactions as a whole: repeats, conflicts, limits, one result for each pair, and the receipt over all of them.
import { found, holds, refused, rejected, resultIs, same } from '../expect.js';
import { sealEnvelope } from '../peer/played-agent.js';
import type { PlayedDomain, TransactionReply } from '../peer/played-domain.js';
import { payloadOf } from '../peer/target.js';
import type { Checks, Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { canonicalJson } from '../wire/canonical-json.js';
import { digestOf, isInstant } from '../wire/encoding.js';
import { isId, mintId } from '../wire/ids.js';
import { listOf, memberOf, textOf } from '../wire/json.js';
import { jwsFault, readCompactJws } from '../wire/jws.js';
import { sleep } from '../wire/time.js';

export const transactions: Scenario = {
  name: 'transactions',
  about: 'one id, one body, one answer; one result for each message and recipient, and a receipt that proves it',
  needs: ['reachable', 'pinned'],
  checks: [
    ...[1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 14, 15, 19, 23].map((number) => `DELIVERY-${number}`),
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((number) => `RECEIPTS-${number}`),
    ...['KEYS-7', 'ENCODING-8', 'ENCODING-9', 'NAMES-12'],
  ],
  async run(stage, checks) {
    await repeats(stage, checks);
    await frames(stage, checks);
    await batches(stage, checks);
    await duplicates(stage, checks);
    await receipts(stage, checks);
  },
};

async function repeats({ peer, quiet }: Stage, { check }: Checks): Promise<void> {
  const sealed = sealEnvelope({ from: peer.agent('one'), to: [quiet] });
  const first = await peer.put({ envelopes: [sealed.wire] });
  await check('DELIVERY-4', 'a repeat, signed afresh, gets the very bytes of the first answer', async () => {
    resultIs(first, 'accepted');
    const again = await peer.put({ id: first.id, body: first.body });
    holds(again.status === 200 && again.bytes.equals(first.bytes), `it got ${again.status} and other bytes`);
  });
  await check('DELIVERY-6', 'another body under the id is refused', async () =>
    refused(await peer.put({ id: first.id }), 409, 'transaction_conflict'),
  );
  await check('DELIVERY-5', 'five copies at once get one answer, or 503 with Retry-After', async () => {
    const id = mintId('txn', 'conformance');
    const wire = sealEnvelope({ from: peer.agent('one'), to: [quiet] }).wire;
    const body = frameOf(await peer.put(), [wire], await certificatesOf(peer));
    const copies = await Promise.all([1, 2, 3, 4, 5].map(() => peer.put({ id, body })));
    const answers = copies.filter((copy) => copy.status === 200);
    const waiting = copies.filter((copy) => copy.status === 503 && copy.fields.has('retry-after'));
    same(answers.length + waiting.length, 5, 'the number of such answers');
    same(new Set(answers.map((copy) => copy.bytes.toString('utf8'))).size, 1, 'the number of different answers');
  });
}

/** The frame of an earlier transaction with other envelopes. */
function frameOf(reply: TransactionReply, envelopes: readonly unknown[], certificates: unknown): string {
  return JSON.stringify({ ...JSON.parse(Buffer.from(reply.body).toString('utf8')), envelopes, certificates });
}

async function certificatesOf(peer: PlayedDomain): Promise<unknown> {
  const reply = await peer.put();
  return JSON.parse(Buffer.from(reply.body).toString('utf8')).certificates;
}

async function frames({ peer, target, quiet }: Stage, { check }: Checks): Promise<void> {
  const from = peer.agent('one');
  const many = (count: number) => Array.from({ length: count }, () => 0);
  await check('DELIVERY-1', 'an id that is none is refused', async () => {
    refused(await peer.put({ id: mintId('msg', 'x') }), 400, 'schema_invalid');
    refused(await peer.put({ id: 'txn_x' }), 400, 'schema_invalid');
  });
  await check('DELIVERY-2', 'an origin that is not the proved one is refused', async () =>
    refused(await peer.put({ frame: { origin: 'elsewhere.test' } }), 400, 'schema_invalid'),
  );
  await check('DELIVERY-2', 'a destination that is another is refused', async () =>
    refused(await peer.put({ frame: { destination: 'elsewhere.test' } }), 421, 'wrong_destination'),
  );
  await check('DELIVERY-3', '51 envelopes are refused', async () =>
    refused(await peer.put({ envelopes: many(51) }), 413, 'too_large'),
  );
  await check('DELIVERY-3', '51 certificates are refused', async () =>
    refused(await peer.put({ certificates: many(51) }), 413, 'too_large'),
  );
  await check('DELIVERY-3', '101 signals are refused', async () =>
    refused(await peer.put({ signals: many(101) }), 413, 'too_large'),
  );
  await check('DELIVERY-3', 'a body of 4 MiB and a byte is refused', async () =>
    refused(await peer.put({ body: Buffer.alloc(4_194_305, 0x20) }), 413, 'too_large'),
  );
  await check('DELIVERY-3', 'more than 1,000 pairs are refused', async () => {
    const to = Array.from({ length: 21 }, (_, index) => `${quiet}-${index}`);
    refused(await peer.put({ envelopes: many(50).map(() => sealEnvelope({ from, to }).wire) }), 413, 'too_large');
  });
  await check('DELIVERY-10', 'a frame that lacks a member is refused as a whole', async () =>
    refused(await peer.put({ frame: { signals: undefined } }), 400, 'schema_invalid'),
  );
  await check('DELIVERY-8', "the target's incarnation stays what it is", async () => {
    const [one, two] = [await peer.put(), await peer.put()].map((reply) =>
      textOf(payloadOf(reply.receipt), 'incarnation'),
    );
    holds(one !== '', 'it names none');
    same(two, one, `the incarnation of ${target.domain}`);
  });
}

async function batches({ peer, quiet }: Stage, { check }: Checks): Promise<void> {
  const from = peer.agent('one');
  const good = [1, 2, 3].map(() => sealEnvelope({ from, to: [quiet] }));
  const forged = sealEnvelope({ from, to: [quiet], sign: (signature) => Buffer.from(signature).reverse() });
  const twoWays = sealEnvelope({ from, to: [quiet, `${quiet}-nobody`] });
  const batch = [
    good[0]?.wire,
    'garbage',
    good[1]?.wire,
    forged.wire,
    { header: '{}', signature: '', body: '' },
    twoWays.wire,
    good[2]?.wire,
  ];
  const reply = await peer.put({ envelopes: batch });
  const resultOf = (messageId: string, recipient: string) =>
    reply.results.filter(
      (result) => textOf(result, 'message_id') === messageId && textOf(result, 'recipient') === recipient,
    );
  await check('DELIVERY-10', 'each message and recipient has exactly one result', () => {
    same(reply.status, 200, 'the status');
    for (const { messageId } of [...good, forged]) same(resultOf(messageId, quiet).length, 1, 'the number of results');
    for (const recipient of [quiet, `${quiet}-nobody`])
      same(resultOf(twoWays.messageId, recipient).length, 1, 'the number of results');
    same(reply.results.length, 8, 'the number of results');
  });
  await check('DELIVERY-11', 'the good items of a bad batch are accepted, the others refused', () => {
    for (const { messageId } of [...good, twoWays])
      same(textOf(resultOf(messageId, quiet)[0], 'result'), 'accepted', 'the result');
    same(textOf(resultOf(forged.messageId, quiet)[0], 'code'), 'signature_invalid', 'the code of the forged one');
  });
  await check('DELIVERY-12', 'an item without a readable id gets its place in the batch', () => {
    const places = reply.results
      .filter((result) => textOf(result, 'message_id') === '')
      .map((result) => memberOf(result, 'index'));
    same(JSON.stringify(places), '[1,4]', 'the places');
  });
  await check('DELIVERY-23', 'an unknown recipient is unavailable, and why is not told', () => {
    const [result] = resultOf(twoWays.messageId, `${quiet}-nobody`);
    same(textOf(result, 'code'), 'recipient_unavailable', 'the code');
  });
  await check('DELIVERY-19', 'the answer keeps its limits', () => {
    holds(reply.bytes.byteLength <= 1_048_576, `it has ${reply.bytes.byteLength} bytes`);
    for (const result of reply.results) holds(Number(memberOf(result, 'after') ?? 0) <= 86_400, 'after is too long');
  });
}

async function duplicates({ peer, quiet, answerer }: Stage, { check }: Checks): Promise<void> {
  const [one, two] = [peer.agent('one'), peer.agent('two')];
  const sealed = sealEnvelope({ from: one, to: [quiet] });
  const first = await peer.put({ envelopes: [sealed.wire] });
  const again = await peer.put({ envelopes: [sealed.wire] });
  await check('DELIVERY-14', 'the same message in another transaction is a duplicate', () => {
    resultIs(first, 'accepted');
    resultIs(again, 'duplicate');
  });
  await check('RECEIPTS-8', 'a duplicate names the receipt of the first acceptance', () => {
    const receiptId = textOf(first.results[0], 'receipt_id');
    holds(isId('rcpt', receiptId), `${receiptId} is no receipt id`);
    same(textOf(again.results[0], 'receipt_id'), receiptId, 'receipt_id');
  });
  await check('DELIVERY-14', "another sender's message under the same id is its own message", async () => {
    const other = sealEnvelope({ from: two, to: [quiet], header: { message_id: sealed.messageId } });
    resultIs(await peer.put({ envelopes: [other.wire] }), 'accepted');
  });
  await check('DELIVERY-14', 'the same message for another mailbox is its own delivery', async () => {
    const header = { message_id: mintId('msg', one.tag) };
    resultIs(await peer.put({ envelopes: [sealEnvelope({ from: one, to: [quiet], header }).wire] }), 'accepted');
    resultIs(await peer.put({ envelopes: [sealEnvelope({ from: one, to: [answerer], header }).wire] }), 'accepted');
  });
  await check('DELIVERY-15', 'the same id with another header is refused', async () => {
    const other = sealEnvelope({ from: one, to: [quiet], header: { message_id: sealed.messageId } });
    rejected(await peer.put({ envelopes: [other.wire] }), ['message_id_reuse']);
  });
}

async function receipts({ peer, target, quiet }: Stage, { check }: Checks): Promise<void> {
  const reply = await peer.put({ envelopes: [sealEnvelope({ from: peer.agent('one'), to: [quiet] }).wire, 7] });
  const jws = readCompactJws(reply.receipt);
  const receipt = jws?.payload;
  await check('RECEIPTS-1', 'the receipt has its members and is not too long', () => {
    for (const name of ['receipt_id', 'type', 'subject_ref', 'subject_digest', 'issuer', 'observed_at', 'code']) {
      holds(textOf(receipt, name) !== '', `${name} is missing`);
    }
    same(typeof memberOf(receipt, 'detail'), 'string', 'the type of detail');
    holds(reply.receipt.length <= 524_288, `it has ${reply.receipt.length} bytes`);
  });
  await check('RECEIPTS-2', "it is signed by a key of the target's bundle", () =>
    same(jwsFault(jws, 'receipt+jwt', target.keys), undefined, 'the fault'),
  );
  await check('KEYS-7', 'it is a JWS with alg Ed25519, typ receipt+jwt and a kid', () => {
    same(textOf(jws?.header, 'alg'), 'Ed25519', 'alg');
    same(textOf(jws?.header, 'typ'), 'receipt+jwt', 'typ');
    holds(textOf(jws?.header, 'kid') !== '', 'kid is missing');
  });
  await check('RECEIPTS-3', 'its issuer is the target', () => same(textOf(receipt, 'issuer'), target.domain, 'issuer'));
  await check('RECEIPTS-4', 'it was observed about now', () => {
    const ms = Date.parse(textOf(receipt, 'observed_at')) - Date.now();
    holds(Math.abs(ms) < 300_000, `observed_at is ${ms} ms from now`);
  });
  await check('ENCODING-8', 'observed_at is an instant', () =>
    holds(isInstant(memberOf(receipt, 'observed_at')), 'it is not'),
  );
  await check('RECEIPTS-5', 'its type is transaction-receipt', () =>
    same(textOf(receipt, 'type'), 'transaction-receipt', 'type'),
  );
  await check('ENCODING-9', 'subject_digest is the digest of the exact body', () =>
    same(textOf(receipt, 'subject_digest'), digestOf(reply.body), 'subject_digest'),
  );
  await check('NAMES-12', 'receipt ids have their form', () => {
    const ids = [textOf(receipt, 'receipt_id'), textOf(reply.results[0], 'receipt_id')];
    for (const id of ids) holds(isId('rcpt', id), `${id} has not`);
  });
  await check('RECEIPTS-6', 'it names transaction, both domains, digest, incarnation and all results', () => {
    same(textOf(receipt, 'transaction_id'), reply.id, 'transaction_id');
    same(textOf(receipt, 'subject_ref'), reply.id, 'subject_ref');
    same(textOf(receipt, 'subject_digest'), digestOf(reply.body), 'subject_digest');
    same(
      `${textOf(receipt, 'origin')} ${textOf(receipt, 'destination')}`,
      `${peer.name} ${target.domain}`,
      'origin and destination',
    );
    holds(textOf(receipt, 'incarnation') !== '', 'incarnation is missing');
    same(canonicalJson(listOf(receipt, 'results')), canonicalJson(reply.results), 'results');
  });
  await check('RECEIPTS-7', 'a receipt that is sent as a signal is not answered', async () => {
    const before = peer.received.length;
    found((await peer.put({ signals: [{ type: 'receipt', receipt: reply.receipt }] })).results, 'it was refused');
    await sleep(1_000);
    same(peer.received.slice(before).filter(({ method }) => method === 'PUT').length, 0, 'the number of transactions');
  });
}
