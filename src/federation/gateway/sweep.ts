// Ends and forgets what time has passed by: undeliverable items, used nonces, old answers, parked items.
import { foundationChannels } from '../../foundation/index.js';
import { buryExpired } from '../outbox/index.js';
import type { Gateway } from '../parts.js';
import { dropExpired } from '../quarantine/index.js';
import { tellSenders } from './settle-delivery.js';
import { forgetOld } from './store.js';

const atOnce = 200;

/** Ends what passed its expiry or waited five days, and tells the senders; answers whether there may be more. */
export async function buryUndelivered(gateway: Gateway): Promise<'more' | 'idle'> {
  const buried = await gateway.db.transact('outbox.bury', async (tx) => {
    const items = await buryExpired(tx, atOnce);
    await tellSenders(
      gateway,
      tx,
      items.map((item) => ({ item, end: 'dead', reason: item.reasonCode, results: [] })),
    );
    return items.length;
  });
  if (buried > 0) gateway.wakeups.wake(foundationChannels.inputs);
  return buried === atOnce ? 'more' : 'idle';
}

export async function sweepFederation(gateway: Gateway): Promise<'more' | 'idle'> {
  const swept = await gateway.db.transact('gateway.sweep', async (tx) => {
    const forgotten = await forgetOld(tx, atOnce);
    return Math.max(forgotten, await dropExpired(tx, atOnce));
  });
  return swept >= atOnce ? 'more' : 'idle';
}
