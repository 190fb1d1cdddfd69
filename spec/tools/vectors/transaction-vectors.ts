// Transactions: the frame is refused as a whole, items one by one; and the answers to them.
import { mintId, type WireEnvelope } from '../../../src/protocol/index.js';
import { ALPHA, ASKER, BETA, bundleOf, certificateOf, instant, letter, mint, OTHER, WORKER } from '../world.js';
import { invalid, type VectorFile, valid } from './vector-file.js';

const identity = (envelope: WireEnvelope) => (JSON.parse(envelope.header) as { message_id: string }).message_id;

export async function transactionVectors(): Promise<VectorFile> {
  const certificates = [await certificateOf(ASKER), await certificateOf(OTHER)];
  const first = await letter({ label: 'batch 1', body: 'one' });
  const second = await letter({ label: 'batch 2', from: OTHER, body: 'two' });
  const frame = {
    origin: ALPHA,
    destination: BETA,
    incarnation: 'inc_vector',
    certificates,
    envelopes: [first, second],
    signals: [] as unknown[],
  };
  const base = { origin: ALPHA, destination: BETA, now: instant() };
  const text = (change: object) => JSON.stringify({ ...frame, ...change });
  const whole = (envelope: WireEnvelope) => ({
    message_id: identity(envelope),
    recipient: WORKER.address,
    result: 'verified',
  });
  const rejected = (envelope: WireEnvelope, code: string) => ({
    message_id: identity(envelope),
    recipient: WORKER.address,
    result: 'rejected',
    code,
  });
  const good = (name: string, change: object, items: object[]) =>
    valid(name, { ...base, body: text(change), expect: { items } });
  const bad = (name: string, reason: string, body: string) => invalid(name, reason, { ...base, body });
  const unreadable = (index: number, code: string) => ({
    message_id: '',
    recipient: '',
    result: 'rejected',
    code,
    index,
  });
  return {
    about:
      'Transaction bodies as received, with what each item comes to. `verified` items are then admitted by local policy.',
    context: { bundle: bundleOf() },
    vectors: [
      good('two messages', {}, [whole(first), whole(second)]),
      good('nothing', { envelopes: [], certificates: [] }, []),
      good('BR-27 one bad item in the middle', { envelopes: [first, { header: '{', signature: '' }, second] }, [
        whole(first),
        unreadable(1, 'envelope_malformed'),
        whole(second),
      ]),
      good('an item that is a number', { envelopes: [7, first] }, [unreadable(0, 'envelope_malformed'), whole(first)]),
      good('an oversized item', { envelopes: [{ ...first, body: 'b'.repeat(48 * 1024 + 1) }, second] }, [
        unreadable(0, 'envelope_too_large'),
        whole(second),
      ]),
      good('a swapped body', { envelopes: [{ ...first, body: 'uno' }, second] }, [
        rejected(first, 'body_digest_mismatch'),
        whole(second),
      ]),
      good('a certificate is missing', { certificates: certificates.slice(0, 1) }, [
        whole(first),
        rejected(second, 'certificate_missing'),
      ]),
      good('certificates that are none', { certificates: [7, 'x', ...certificates] }, [whole(first), whole(second)]),
      good('signals of a later version', { signals: [{ type: 'later' }, 7] }, [whole(first), whole(second)]),
      good('a member of a later version', { later: true }, [whole(first), whole(second)]),
      bad('no JSON', 'malformed_json', '{'),
      bad('a member twice', 'malformed_json', text({}).replace('{', '{"origin":"alpha.test",')),
      bad('an array', 'schema_invalid', '[]'),
      bad('envelopes that are an object', 'schema_invalid', text({ envelopes: {} })),
      bad('no incarnation', 'schema_invalid', text({ incarnation: undefined })),
      bad('an origin that is no domain', 'schema_invalid', text({ origin: 'Alpha.test' })),
      bad('another origin than the signed one', 'schema_invalid', text({ origin: 'gamma.test' })),
      bad('another destination', 'wrong_destination', text({ destination: 'gamma.test' })),
      bad('51 envelopes', 'too_large', text({ envelopes: Array.from({ length: 51 }, () => ({})) })),
      bad('101 signals', 'too_large', text({ signals: Array.from({ length: 101 }, () => ({})) })),
      bad('51 certificates', 'too_large', text({ certificates: Array.from({ length: 51 }, () => 'x') })),
    ],
  };
}

export function answerVectors(): VectorFile {
  const receiptId = mintId('rcpt', WORKER.home, mint('receipt'));
  const messageId = mintId('msg', ASKER.home, mint('answer'));
  const item = { message_id: messageId, recipient: WORKER.address };
  const results = [
    { ...item, result: 'accepted', receipt_id: receiptId },
    { ...item, recipient: OTHER.address, result: 'rejected', code: 'recipient_unavailable' },
    { ...item, recipient: ASKER.address, result: 'retry', after: 60 },
    { message_id: '', recipient: '', result: 'rejected', code: 'envelope_malformed', index: 3 },
  ];
  const answer = { results, receipt: 'a receipt, see receipts.json' };
  const bad = (name: string, members: object) => invalid(name, 'schema_invalid', { answer: { ...answer, ...members } });
  return {
    about: 'The shape of answers to transactions. That the receipt holds is a matter of receipts.json.',
    vectors: [
      valid('an answer', { answer }),
      valid('a code of a later version', {
        answer: { ...answer, results: [{ ...item, result: 'rejected', code: 'some_later_code' }] },
      }),
      bad('an unknown result', { results: [{ ...item, result: 'maybe' }] }),
      bad('a wait beyond a day', { results: [{ ...item, result: 'retry', after: 86_401 }] }),
      bad('a recipient that is no address', { results: [{ ...item, recipient: 'worker', result: 'accepted' }] }),
      bad('no results', { results: undefined }),
      bad('no receipt', { receipt: undefined }),
    ],
  };
}
