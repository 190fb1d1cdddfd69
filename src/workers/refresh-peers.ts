// The loop that keeps the bundles of pinned peers fresh, so that a revocation arrives within the refresh hint (D2).
import { duePeers, federationChannels, type Gateway, peerBundle } from '../federation/index.js';
import { runWorker } from '../platform/index.js';

const idleMs = 15_000;
const peersAtOnce = 8;

export function runRefreshPeers(gateway: Gateway, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random, db, peers, domain } = gateway;

  async function step(): Promise<'more' | 'idle'> {
    const due = await duePeers(db.sql, { except: domain.name, limit: peersAtOnce });
    await Promise.all(due.map((peer) => peerBundle(peers, peer)));
    return due.length === peersAtOnce ? 'more' : 'idle';
  }

  const channel = federationChannels.peers;
  return runWorker({ name: 'refresh-peers', clock, wakeups, log, random, channel, idleMs, step, signal });
}
