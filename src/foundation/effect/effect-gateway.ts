/** What the Effect Gateway works with, and how patient it is with its database. */
import {
  type Clock,
  type Database,
  isConnectionLost,
  isRetryableConflict,
  type Log,
  type Random,
  type Tx,
  type Wakeups,
} from '../../platform/index.js';
import { mintFrom, newId } from '../new-id.js';
import type { Authority, EffectAdapters, Placements } from '../ports.js';
import type { SharedCommits } from './share-commits.js';

export interface EffectGateway {
  db: Database;
  placements: Placements;
  authority: Authority;
  adapters: EffectAdapters;
  clock: Clock;
  random: Random;
  wakeups: Wakeups;
  log: Log;
  /** Present where proposals come side by side: they share commits. */
  commits?: SharedCommits;
}

/** Who waits for another process to settle an effect waits on this channel. */
export function effectChannel(effectId: string): string {
  return `effect:${effectId}`;
}

const patienceMs = 15_000;
const longestPauseMs = 1_000;

/**
 * A transaction of the gateway. Each is guarded by the state it starts from, so it can be run again when its commit may or
 * may not have happened: the second time it finds the state moved and changes nothing.
 */
export function transact<T>(gateway: EffectGateway, name: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return patiently(gateway, () => gateway.db.transact(name, work));
}

export async function patiently<T>({ clock }: EffectGateway, work: () => Promise<T>): Promise<T> {
  const giveUpAt = clock.monotonicMs() + patienceMs;
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      const passing = isConnectionLost(error) || isRetryableConflict(error);
      if (!passing || clock.monotonicMs() + pauseMs > giveUpAt) throw error;
    }
    await clock.sleep(pauseMs);
  }
}

export function mintEffectIds(gateway: EffectGateway, home: string): { effectId: string; operationId: string } {
  const mint = mintFrom(gateway);
  return { effectId: newId('eff', home, mint), operationId: newId('op', home, mint) };
}
