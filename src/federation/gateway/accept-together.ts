// Transactions that arrive while another one is being accepted share the next commit; a fault in one costs the others only time.
import { gather } from '../../platform/index.js';
import type { TransactionResult } from '../../protocol/index.js';
import { type AcceptGateway, type AcceptItems, acceptItems, commitAccepts } from './accept-items.js';

export type SharedAccepts = (accept: AcceptItems) => Promise<TransactionResult[]>;

/** With 50 envelopes in each, what a commit of a few tens of milliseconds takes. */
const atOnce = 8;

export function acceptTogether(gateway: AcceptGateway): SharedAccepts {
  const join = gather({ atOnce, work: (accepts: readonly AcceptItems[]) => settleAll(gateway, accepts) });
  return async (accept) => {
    const end = await join(accept);
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  };
}

type End = PromiseSettledResult<TransactionResult[]>;

async function settleAll(gateway: AcceptGateway, accepts: readonly AcceptItems[]): Promise<End[]> {
  if (accepts.length > 1) {
    // A fault is not lost: whose it is meets it alone.
    const shared = await commitAccepts(gateway, accepts).catch(() => undefined);
    if (shared) return shared.map((value) => ({ status: 'fulfilled', value }));
  }
  const ends: End[] = [];
  for (const accept of accepts) ends.push(...(await Promise.allSettled([acceptItems(gateway, accept)])));
  return ends;
}
