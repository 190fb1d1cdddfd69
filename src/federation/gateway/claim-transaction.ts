/**
 * One transaction id, one answer (BR-17). The first to come claims the id for a short time; a repeat gets the stored
 * answer, a concurrent repeat waits for it, another body under the id is refused. A claim whose holder died lapses, and
 * the next repeat takes it over: what was committed meanwhile stands, so deciding twice changes nothing.
 */
import type { Tx } from '../../platform/index.js';
import { LIMITS, Problem, type TransactionResult } from '../../protocol/index.js';
import { federationChannels, type Gateway } from '../parts.js';
import {
  type ClaimTransaction,
  countTransactions,
  insertTransaction,
  readTransaction,
  rememberNonce,
  takeTransaction,
} from './store.js';

export type Claimed =
  /** Ours to decide; `results` are there when a holder died between deciding and signing. */
  { kind: 'claimed'; results: TransactionResult[] | undefined } | { kind: 'answered'; answer: string };

const claimMs = 5_000;
const pollMs = 100;
const patienceMs = 15_000;
/** An unpinned origin is remembered for so many transactions at most. */
const strangerTransactions = 1_000;

export type ClaimRequest = Omit<ClaimTransaction, 'claimMs'> & { nonce: string; pinned: boolean };

export async function claimTransaction(gateway: Gateway, request: ClaimRequest): Promise<Claimed> {
  const claim: ClaimTransaction = { ...request, claimMs };
  const first = await gateway.db.transact('gateway.claim', async (tx) => {
    const { peer, nonce } = request;
    if (!(await rememberNonce(tx, { peer, nonce })))
      throw new Problem('replayed', 'this signed request was seen before');
    if (!request.pinned) await boundStranger(tx, claim);
    return tryClaim(tx, claim);
  });
  if (first) return first;
  const startMs = gateway.clock.monotonicMs();
  while (gateway.clock.monotonicMs() - startMs < patienceMs) {
    await gateway.wakeups.wait(federationChannels.answers, pollMs);
    const later = await gateway.db.transact('gateway.claim', (tx) => tryClaim(tx, claim));
    if (later) return later;
  }
  throw new Problem('unavailable', 'this transaction is still being worked on', { extra: { retry_after_s: 2 } });
}

/** Undefined while somebody else is at work on it. */
async function tryClaim(tx: Tx, claim: ClaimTransaction): Promise<Claimed | undefined> {
  if (await insertTransaction(tx, claim)) return { kind: 'claimed', results: undefined };
  const state = await readTransaction(tx, claim);
  // Swept between the two statements: seven days old, so nobody can mean it any more.
  if (!state) return undefined;
  if (state.bodyDigest !== claim.bodyDigest) {
    throw new Problem('transaction_conflict', `${claim.transactionId} was used for another body`);
  }
  if (state.answer) return { kind: 'answered', answer: state.answer };
  if (!(await takeTransaction(tx, claim))) return undefined;
  return { kind: 'claimed', results: state.results ?? undefined };
}

async function boundStranger(tx: Tx, { peer }: ClaimTransaction): Promise<void> {
  const seen = await countTransactions(tx, { peer, limit: strangerTransactions });
  if (seen < strangerTransactions) return;
  throw new Problem('rate_limited', 'too many transactions of a domain that is not pinned here', {
    extra: { retry_after_s: LIMITS.retryAfterS },
  });
}
