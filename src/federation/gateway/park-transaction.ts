// What becomes of a transaction whose origin nobody pinned here: parked within bounds, or refused. Either way nobody is woken.
import { Problem, type TransactionResult } from '../../protocol/index.js';
import type { Gateway } from '../parts.js';
import { parkItems, type QuarantineItem } from '../quarantine/index.js';
import { type AcceptItems, refusedResults, settleResults } from './accept-items.js';
import type { VerifiedItem } from './verify-items.js';

const fullRetryS = 3_600;

/** Parks every recipient, real or not: a stranger learns nothing about who exists (D5, D11). */
export async function parkTransaction(gateway: Gateway, accept: AcceptItems): Promise<TransactionResult[]> {
  const results = accept.items.flatMap((item): TransactionResult[] =>
    'refused' in item ? refusedResults(item.refused) : resultsOf(item.verified, { result: 'parked' }),
  );
  const parked = accept.items.flatMap((item) => ('verified' in item ? quarantineItems(item.verified) : []));
  await gateway.db.transact('gateway.park', async (tx) => {
    const outcome = await parkItems(tx, accept.peer, parked);
    if (!outcome.parked) {
      throw new Problem('rate_limited', `no more can be held: ${outcome.bound}`, {
        extra: { retry_after_s: fullRetryS },
      });
    }
    await settleResults(tx, accept, results);
  });
  return results;
}

/** A blocked origin gets the answer that a missing recipient gives. */
export async function refuseTransaction(gateway: Gateway, accept: AcceptItems): Promise<TransactionResult[]> {
  const results = accept.items.flatMap((item): TransactionResult[] =>
    'refused' in item
      ? refusedResults(item.refused)
      : resultsOf(item.verified, { result: 'rejected', code: 'recipient_unavailable' }),
  );
  await gateway.db.transact('gateway.refuse', (tx) => settleResults(tx, accept, results));
  return results;
}

function resultsOf(
  { envelope }: VerifiedItem,
  outcome: Pick<TransactionResult, 'result' | 'code'>,
): TransactionResult[] {
  const { message_id, to } = envelope.header;
  return to.map((recipient) => ({ message_id, recipient, ...outcome }));
}

function quarantineItems({ envelope }: VerifiedItem): QuarantineItem[] {
  return envelope.header.to.map((recipient) => ({
    messageId: envelope.header.message_id,
    sender: envelope.sender,
    recipient,
    header: envelope.headerBytes,
    signature: envelope.wire.signature,
    body: envelope.body,
  }));
}
