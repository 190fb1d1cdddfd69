// Parks a transaction's items, all or none, within the bounds; full means a clear refusal and nothing stored.
import type { Tx } from '../../platform/index.js';
import type { Domain } from '../../protocol/index.js';
import { boundPassed, bytesOf, type QuarantineItem } from './quarantine.js';
import { dropExpired, insertItem, lockQuarantine, quarantineKey, readHeld, readLoad } from './store.js';

const expiredAtOnce = 200;

export type Parked = { parked: true } | { parked: false; bound: string };

export async function parkItems(tx: Tx, origin: Domain, items: readonly QuarantineItem[]): Promise<Parked> {
  await lockQuarantine(tx);
  await dropExpired(tx, expiredAtOnce);
  const held = await readHeld(tx, origin, items);
  const added = items.filter((item) => !held.has(quarantineKey(item)));
  const bytes = added.reduce((sum, item) => sum + bytesOf(item), 0);
  const bound = boundPassed(await readLoad(tx, origin), { items: added.length, bytes });
  if (bound !== undefined) return { parked: false, bound };
  for (const item of added) await insertItem(tx, origin, item);
  return { parked: true };
}
