// The SQL of the inbound door: transactions by id, nonces of signed requests.
import type { Tx } from '../../platform/index.js';
import { type Domain, LIMITS, type TransactionResult } from '../../protocol/index.js';

export interface InboundTransaction {
  peer: Domain;
  transactionId: string;
}

/** False when the nonce was used before: the request is a replay. */
export async function rememberNonce(tx: Tx, { peer, nonce }: { peer: Domain; nonce: string }): Promise<boolean> {
  const rows = await tx`
    insert into federation.request_nonces (peer, nonce, expires_at)
    values (${peer}, ${nonce}, hearth_now() + ${LIMITS.nonceMemoryMs} * interval '1 millisecond')
    on conflict (peer, nonce) do nothing
    returning 1`;
  return rows.length === 1;
}

export type ClaimTransaction = InboundTransaction & { bodyDigest: string; claim: string; claimMs: number };

/** True when this is the first sight of (peer, id) and the claim is ours. */
export async function insertTransaction(tx: Tx, claimed: ClaimTransaction): Promise<boolean> {
  const rows = await tx`
    insert into federation.inbound_transactions (peer, transaction_id, body_digest, claim, claimed_until)
    values (${claimed.peer}, ${claimed.transactionId}, ${claimed.bodyDigest}, ${claimed.claim},
            hearth_lease_now() + ${claimed.claimMs} * interval '1 millisecond')
    on conflict (peer, transaction_id) do nothing
    returning 1`;
  return rows.length === 1;
}

/** Takes a transaction over whose holder is gone; false while it is held or once it is answered. */
export async function takeTransaction(tx: Tx, claimed: ClaimTransaction): Promise<boolean> {
  const rows = await tx`
    update federation.inbound_transactions
       set claim = ${claimed.claim}, claimed_until = hearth_lease_now() + ${claimed.claimMs} * interval '1 millisecond'
     where peer = ${claimed.peer}
       and transaction_id = ${claimed.transactionId}
       and body_digest = ${claimed.bodyDigest}
       and answer is null
       and (claimed_until is null or claimed_until <= hearth_lease_now())
    returning 1`;
  return rows.length === 1;
}

/** Gives a claim back, so that a repeat need not wait for its end. */
export async function releaseTransaction(
  tx: Tx,
  { peer, transactionId, claim }: InboundTransaction & { claim: string },
): Promise<void> {
  await tx`
    update federation.inbound_transactions
       set claimed_until = null
     where peer = ${peer}
       and transaction_id = ${transactionId}
       and claim = ${claim}
       and answer is null`;
}

export interface TransactionState {
  bodyDigest: string;
  results: TransactionResult[] | null;
  answer: string | null;
}

export async function readTransaction(
  tx: Tx,
  { peer, transactionId }: InboundTransaction,
): Promise<TransactionState | undefined> {
  const [row] = await tx<TransactionState[]>`
    select body_digest, results, answer
      from federation.inbound_transactions
     where peer = ${peer}
       and transaction_id = ${transactionId}`;
  return row;
}

/** Stores what was decided, in the transaction that did it; the first decision stands. */
export async function saveResults(
  tx: Tx,
  { peer, transactionId, claim, results }: InboundTransaction & { claim: string; results: TransactionResult[] },
): Promise<boolean> {
  const rows = await tx`
    update federation.inbound_transactions
       set results = ${tx.json(results)}
     where peer = ${peer}
       and transaction_id = ${transactionId}
       and claim = ${claim}
       and results is null
    returning 1`;
  return rows.length === 1;
}

/** Stores the signed answer unless one is there; answers the one that stands. */
export async function saveAnswer(
  tx: Tx,
  { peer, transactionId, answer }: InboundTransaction & { answer: string },
): Promise<{ answer: string; first: boolean }> {
  const rows = await tx`
    update federation.inbound_transactions
       set answer = ${answer}, claimed_until = null
     where peer = ${peer}
       and transaction_id = ${transactionId}
       and answer is null
    returning 1`;
  if (rows.length === 1) return { answer, first: true };
  const state = await readTransaction(tx, { peer, transactionId });
  if (!state?.answer) throw new Error('an inbound transaction lost its answer');
  return { answer: state.answer, first: false };
}

/** How many transactions of a peer are remembered, counted no further than `limit`. */
export async function countTransactions(tx: Tx, { peer, limit }: { peer: Domain; limit: number }): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count
      from (select 1
              from federation.inbound_transactions
             where peer = ${peer}
             limit ${limit}) seen`;
  return row?.count ?? 0;
}

/** Forgets nonces that can no longer be replayed and answers past dedupe memory; a bounded part at a time. */
export async function forgetOld(tx: Tx, limit: number): Promise<number> {
  const nonces = await tx`
    delete from federation.request_nonces
     where ctid = any(array(select ctid
                              from federation.request_nonces
                             where expires_at <= hearth_now()
                             order by expires_at
                             limit ${limit}))
    returning 1`;
  const transactions = await tx`
    delete from federation.inbound_transactions
     where ctid = any(array(select ctid
                              from federation.inbound_transactions
                             where received_at <= hearth_now() - ${LIMITS.dedupeMemoryMs} * interval '1 millisecond'
                             order by received_at
                             limit ${limit}))
    returning 1`;
  return nonces.length + transactions.length;
}
