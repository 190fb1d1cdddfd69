/**
 * Transactions that arrive while others are being accepted share the next commit. When that fails, each is accepted by
 * itself and outside the queue, as if it had come alone: a fault in one costs the others one attempt, and nobody waits
 * while it is looked for.
 */
import { gather } from '../../platform/index.js';
import { LIMITS, type TransactionResult } from '../../protocol/index.js';
import { type AcceptGateway, type AcceptItems, acceptItems, acceptWhole, commitAccepts } from './accept-items.js';

export type SharedAccepts = (accept: AcceptItems) => Promise<TransactionResult[]>;

/** With 50 envelopes in each, what a commit of a few tens of milliseconds takes. */
const atOnce = 8;

export function acceptTogether(gateway: AcceptGateway): SharedAccepts {
  const join = gather({ atOnce, work: (accepts: readonly AcceptItems[]) => acceptAll(gateway, accepts) });
  return async (accept) => (await join(accept)) ?? acceptItems(gateway, accept);
}

type Shared = TransactionResult[] | undefined;

/** Undefined for what has to be accepted by itself. */
async function acceptAll(gateway: AcceptGateway, accepts: readonly AcceptItems[]): Promise<Shared[]> {
  const ends: Shared[] = [];
  for (const share of sharesOf(accepts)) {
    // The fault is not lost: whose it is meets it alone.
    const results = await commitAccepts(gateway, share, acceptWhole).catch(() => undefined);
    ends.push(...(results ?? share.map(() => undefined)));
  }
  return ends;
}

/** In their order, in commits that hold no more than the largest transaction does. Pure. */
export function sharesOf<Accept extends Pick<AcceptItems, 'items'>>(accepts: readonly Accept[]): Accept[][] {
  const shares: Accept[][] = [];
  let pairs = 0;
  for (const accept of accepts) {
    pairs += pairsOf(accept);
    const last = shares.at(-1);
    if (last && pairs <= LIMITS.transactionPairs) {
      last.push(accept);
    } else {
      shares.push([accept]);
      pairs = pairsOf(accept);
    }
  }
  return shares;
}

function pairsOf({ items }: Pick<AcceptItems, 'items'>): number {
  return items.reduce((sum, item) => sum + ('verified' in item ? item.verified.envelope.header.to.length : 0), 0);
}
