// The loop that delivers the outbox: one delivery per peer at a time, peers side by side, so that a slow one delays nobody.
import {
  buryUndelivered,
  deliverablePeers,
  federationChannels,
  type Gateway,
  sendTransaction,
} from '../federation/index.js';
import { runWorker } from '../platform/index.js';
import type { Domain } from '../protocol/index.js';

const idleMs = 500;
const buryEveryMs = 1_000;
const peersAtOnce = 16;

/** Resolves after the signal, once every delivery under way has ended or given its claim back. */
export async function runDeliverOutbox(gateway: Gateway, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = gateway;
  const underWay = new Map<Domain, Promise<void>>();
  const faults: unknown[] = [];
  let buriedAtMs = Number.NEGATIVE_INFINITY;

  function start(peer: Domain): void {
    const delivery = deliverAll(gateway, peer, signal)
      // Thrown on by the next step, so that the worker's own back-off and reporting apply.
      .catch((error: unknown) => void faults.push(error))
      .finally(() => underWay.delete(peer));
    underWay.set(peer, delivery);
  }

  async function step(): Promise<'more' | 'idle'> {
    if (faults.length > 0) throw faults.splice(0)[0];
    for (const peer of await deliverablePeers(gateway.db.sql, 2 * peersAtOnce)) {
      if (underWay.size < peersAtOnce && !underWay.has(peer)) start(peer);
    }
    // New items come more often than old ones expire.
    if (clock.monotonicMs() - buriedAtMs < buryEveryMs) return 'idle';
    buriedAtMs = clock.monotonicMs();
    const buried = await buryUndelivered(gateway);
    if (buried === 'more') buriedAtMs = Number.NEGATIVE_INFINITY;
    return buried;
  }

  const channel = federationChannels.outbox;
  await runWorker({ name: 'deliver-outbox', clock, wakeups, log, random, channel, idleMs, step, signal });
  await Promise.all(underWay.values());
}

async function deliverAll(gateway: Gateway, peer: Domain, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const outcome = await sendTransaction(gateway, peer, signal);
    if (outcome !== 'sent') return;
  }
}
