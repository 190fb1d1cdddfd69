import { describe, expect, test } from 'vitest';
import {
  digestOf,
  formatInstant,
  type ItemReceipt,
  mintId,
  RECEIPT_TYPES,
  type Receipt,
  readReceipt,
  sealReceipt,
  type TransactionReceipt,
  toUtf8,
  verifyReceipt,
} from '../../src/protocol/index.js';
import {
  ALPHA,
  BETA,
  bundleOf,
  DOMAIN_KEY,
  domainKey,
  later,
  messageId,
  NEXT_KEY,
  NOW,
  OTHER_KEY,
  random,
  TAG,
  WORKER,
} from './fixtures.js';

const item: ItemReceipt = {
  receipt_id: mintId('rcpt', TAG, { now: NOW, random }),
  type: 'delivery.accepted',
  subject_ref: messageId(),
  subject_digest: digestOf(toUtf8('header')),
  issuer: ALPHA,
  observed_at: formatInstant(NOW),
  code: 'stored',
  detail: 'stored in the mailbox',
  recipient: WORKER,
};
const batch: TransactionReceipt = {
  ...item,
  type: 'transaction-receipt',
  transaction_id: mintId('txn', TAG, { now: NOW, random }),
  origin: BETA,
  destination: ALPHA,
  incarnation: 'inc_1',
  results: [{ message_id: messageId(), recipient: WORKER, result: 'accepted' }],
};

async function verdict(receipt: Receipt, { signer = DOMAIN_KEY, bundle = bundleOf() } = {}): Promise<string> {
  const verified = await verifyReceipt(readReceipt(await sealReceipt(receipt, signer.kid, signer.sign)), {
    bundle,
    now: NOW,
  });
  return verified.ok ? 'verified' : verified.detail;
}

describe('receipts', () => {
  test.each(RECEIPT_TYPES)('a %s receipt is verified', async (type) => {
    expect(await verdict({ ...item, type })).toBe('verified');
  });

  test('one receipt covers every result of a transaction', async () => {
    const token = await sealReceipt(batch, DOMAIN_KEY.kid, DOMAIN_KEY.sign);
    const { recipient, ...expected } = { ...batch, recipient: WORKER };
    expect(await verifyReceipt(readReceipt(token), { bundle: bundleOf(), now: NOW })).toMatchObject({
      ok: true,
      receipt: expected,
      token,
    });
    expect(recipient).toBe(WORKER);
  });

  test('a receipt in the name of another domain is refused', async () => {
    expect(await verdict({ ...item, issuer: BETA })).toMatch(/issued by beta.test/);
    expect(await verdict(item, { signer: { ...OTHER_KEY, kid: DOMAIN_KEY.kid } })).toMatch(/does not hold/);
    expect(await verdict(item, { signer: OTHER_KEY })).toMatch(/has no key/);
  });

  test('BR-04 a receipt observed before its key retired still holds, one observed later does not', async () => {
    const retired = { ...domainKey(DOMAIN_KEY), expired_at: formatInstant(NOW) };
    const bundle = bundleOf({ keys: [domainKey(NEXT_KEY)], retired_keys: [retired] });
    expect(await verdict({ ...item, observed_at: formatInstant(later(-1)) }, { bundle })).toBe('verified');
    expect(await verdict(item, { bundle })).toMatch(/retired/);
  });

  test('300 s ahead are accepted, more is not', async () => {
    expect(await verdict({ ...item, observed_at: formatInstant(later(300_000)) })).toBe('verified');
    expect(await verdict({ ...item, observed_at: formatInstant(later(300_001)) })).toMatch(/ahead/);
  });

  test('text that is no receipt is refused', async () => {
    expect(await verifyReceipt(readReceipt('a.b.c'), { bundle: bundleOf(), now: NOW })).toMatchObject({
      ok: false,
      reason: 'receipt_invalid',
    });
  });
});
