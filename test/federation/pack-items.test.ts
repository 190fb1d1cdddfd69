import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dealItems } from '../../src/federation/gateway/pack-items.js';
import type { OutboxItem } from '../../src/federation/outbox/index.js';
import { LIMITS } from '../../src/protocol/index.js';

const limits = fc.record({
  transaction_envelopes: fc.integer({ min: 1, max: 50 }),
  transaction_bytes: fc.integer({ min: 1_000, max: LIMITS.transactionBytes }),
});
const queue = fc.array(
  fc.record({
    conversation: fc.integer({ min: 0, max: 9 }),
    bytes: fc.integer({ min: 1, max: 40_000 }),
    recipients: fc.integer({ min: 1, max: LIMITS.recipients }),
  }),
  {
    minLength: 1,
    maxLength: 200,
  },
);

it('what is dealt keeps each conversation whole, in order and in one transaction, within the limits of the receiver (D9, DELIVERY-3, DELIVERY-25)', () => {
  fc.assert(
    fc.property(queue, limits, (given, taken) => {
      const items = given.map(itemOf);
      const deals = dealItems(items, taken);
      expect(deals.length).toBeGreaterThan(0);
      expect(deals.length).toBeLessThanOrEqual(Math.ceil(items.length / taken.transaction_envelopes));
      for (const conversationId of new Set(items.map((item) => item.conversationId))) {
        const queued = items.filter((item) => item.conversationId === conversationId);
        const dealt = deals.filter((deal) => deal.some((item) => item.conversationId === conversationId));
        expect(dealt.length).toBeLessThanOrEqual(1);
        const own = (dealt[0] ?? []).filter((item) => item.conversationId === conversationId);
        // The first ones, without a gap: nothing overtakes what waits.
        expect(own).toEqual(queued.slice(0, own.length));
      }
      for (const deal of deals) {
        expect(deal.length).toBeLessThanOrEqual(taken.transaction_envelopes);
        const bytes = deal.reduce((sum, item) => sum + item.body.byteLength, 0);
        expect(deal.length === 1 || bytes < taken.transaction_bytes).toBe(true);
        const pairs = deal.reduce((sum, item) => sum + item.recipients.length, 0);
        expect(pairs).toBeLessThanOrEqual(LIMITS.transactionPairs);
      }
    }),
    { seed: 7, numRuns: 200 },
  );
});

interface Given {
  conversation: number;
  bytes: number;
  recipients: number;
}

function itemOf({ conversation, bytes, recipients }: Given, position: number): OutboxItem {
  const body = new Uint8Array(bytes);
  const to = Array.from({ length: recipients }, (_, n) => `agent://beta.test/agents/n${n}`);
  return {
    conversationId: `conv-${conversation}`,
    position,
    body,
    recipients: to,
    header: new Uint8Array(700),
  } as OutboxItem;
}
