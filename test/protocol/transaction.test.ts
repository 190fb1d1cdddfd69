import { describe, expect, test } from 'vitest';
import {
  encodeTransaction,
  encodeTransactionAnswer,
  LIMITS,
  parseTransaction,
  parseTransactionAnswer,
  type Signal,
  sealEnvelope,
  type TransactionDraft,
  toUtf8,
} from '../../src/protocol/index.js';
import { AGENT_KEY, ALPHA, BETA, envelopeDraft, messageId, WORKER } from './fixtures.js';

const seal = () => sealEnvelope(envelopeDraft(), toUtf8('hello'), AGENT_KEY.sign);
const draft = (change: Partial<TransactionDraft> = {}): TransactionDraft => ({
  origin: ALPHA,
  destination: BETA,
  incarnation: 'inc_1',
  certificates: [],
  envelopes: [],
  signals: [],
  ...change,
});
const raw = (change: Record<string, unknown>) => toUtf8(JSON.stringify({ ...draft(), ...change }));

describe('transactions', () => {
  test('what is encoded is parsed back, items in order', async () => {
    const envelopes = [await seal(), await seal()];
    const signals: Signal[] = [
      { type: 'receipt', receipt: 'a.b.c' },
      { type: 'bundle.changed', sequence: '7' },
    ];
    const parsed = parseTransaction(encodeTransaction(draft({ envelopes, signals, certificates: ['x.y.z'] })));
    expect(parsed).toMatchObject({
      origin: ALPHA,
      destination: BETA,
      incarnation: 'inc_1',
      certificates: ['x.y.z'],
      signals,
    });
    expect(parsed.items.map((item) => 'opened' in item && item.opened.wire)).toEqual(envelopes);
  });

  test('a bad item is refused alone, by its place and as far as readable by its id', async () => {
    const good = await seal();
    const spaced = { ...good, header: good.header.replace('{', '{ ') };
    const { items } = parseTransaction(raw({ envelopes: [7, good, spaced, { header: 'x' }] }));
    expect(items.map((item) => ('opened' in item ? 'opened' : item.refused.reason))).toEqual([
      'envelope_malformed',
      'opened',
      'envelope_not_canonical',
      'envelope_malformed',
    ]);
    const [, opened, refused] = items;
    if (!opened || !('opened' in opened)) throw new TypeError('not opened');
    expect(refused).toMatchObject({
      index: 2,
      refused: { messageId: opened.opened.header.message_id, recipients: [WORKER] },
    });
  });

  test('signals and certificates of unknown shape are passed over', () => {
    const parsed = parseTransaction(
      raw({
        signals: [
          { type: 'presence', home: 'x' },
          7,
          { type: 'bundle.changed', sequence: '01' },
          { type: 'bundle.changed', sequence: '2' },
        ],
        certificates: [7, 'x'.repeat(LIMITS.certificateBytes), 'x'.repeat(LIMITS.certificateBytes + 1)],
      }),
    );
    expect(parsed.signals).toEqual([{ type: 'bundle.changed', sequence: '2' }]);
    expect(parsed.certificates.map((token) => token.length)).toEqual([LIMITS.certificateBytes]);
  });

  test.each([
    ['another origin form', { origin: 'ALPHA.test' }],
    ['no destination', { destination: undefined }],
    ['no incarnation', { incarnation: '' }],
    ['envelopes that are no list', { envelopes: {} }],
  ])('a frame with %s is refused as a whole', (_, change) => {
    expect(() => parseTransaction(raw(change))).toThrow(/schema_invalid/);
  });

  test.each([
    ['envelopes', LIMITS.transactionEnvelopes],
    ['signals', LIMITS.transactionSignals],
    ['certificates', LIMITS.transactionCertificates],
  ])('as many %s as allowed (%i) are accepted, one more is not', (field, limit) => {
    expect(parseTransaction(raw({ [field]: Array(limit).fill(0) })).origin).toBe(ALPHA);
    expect(() => parseTransaction(raw({ [field]: Array(limit + 1).fill(0) }))).toThrow(/too_large/);
    expect(() => encodeTransaction(draft({ [field]: Array(limit + 1).fill(0) }))).toThrow(RangeError);
  });

  test('4 MiB are accepted, a byte more is not', () => {
    const padded = (bytes: number) => {
      const frame = raw({});
      return Buffer.concat([frame, Buffer.alloc(bytes - frame.byteLength, ' ')]);
    };
    expect(parseTransaction(padded(LIMITS.transactionBytes)).origin).toBe(ALPHA);
    expect(() => parseTransaction(padded(LIMITS.transactionBytes + 1))).toThrow(/too_large/);
  });
});

describe('answers', () => {
  test('an answer comes back as it was given', () => {
    const id = messageId();
    const results = [
      { message_id: id, recipient: WORKER, result: 'accepted' as const },
      { message_id: id, recipient: WORKER, result: 'rejected' as const, code: 'expired' },
      { message_id: id, recipient: WORKER, result: 'retry' as const, after: 30 },
      {
        message_id: '' as const,
        recipient: '' as const,
        result: 'rejected' as const,
        code: 'envelope_malformed',
        index: 3,
      },
    ];
    expect(parseTransactionAnswer(toUtf8(encodeTransactionAnswer({ results, receipt: 'a.b.c' })))).toEqual({
      results,
      receipt: 'a.b.c',
    });
  });

  test('a code from a newer peer is understood as a refusal', () => {
    const results = [{ message_id: messageId(), recipient: WORKER, result: 'rejected', code: 'some_new_code' }];
    expect(parseTransactionAnswer(toUtf8(JSON.stringify({ results, receipt: '' }))).results[0]?.code).toBe(
      'some_new_code',
    );
  });

  test.each([
    { results: [{ message_id: 'x', recipient: WORKER, result: 'accepted' }] },
    { results: [{ message_id: '', recipient: '', result: 'maybe' }] },
    {},
  ])('an answer of another shape is refused', (answer) =>
    expect(() => parseTransactionAnswer(toUtf8(JSON.stringify({ receipt: '', ...answer })))).toThrow(/schema_invalid/),
  );
});
