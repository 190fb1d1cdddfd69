// Peers as the admin API shows them: what an operator decided, which keys are believed, and how delivery goes.
import { type Peer, type PeerDelivery, readDeliveries } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import { type Domain, formatInstant, Problem } from '../../protocol/index.js';

export async function peerViews(sql: Sql, peers: readonly Peer[]): Promise<object[]> {
  const deliveries = await readDeliveries(
    sql,
    peers.map((peer) => peer.domain),
  );
  const byPeer = new Map(deliveries.map((delivery) => [delivery.peer, delivery]));
  return peers.map((peer) => ({ ...peerView(peer), delivery: deliveryView(byPeer.get(peer.domain)) }));
}

/** A domain is a peer of its own and trusts itself; another word would only stop its own mail. */
export function refuseOwnDomain(own: { name: Domain }, domain: Domain): void {
  if (domain === own.name) throw new Problem('conflict', `${domain} is this domain itself, which it always trusts`);
}

function peerView(peer: Peer): object {
  return {
    domain: peer.domain,
    relationship: peer.relationship,
    fingerprint: peer.fingerprint ?? null,
    gateway: peer.gateway ?? null,
    bundle_sequence: peer.bundle?.sequence ?? null,
    bundle_fetched_at: instantOf(peer.bundleFetchedAt),
    held_reason: peer.heldReason ?? null,
    last_error: peer.lastError ?? null,
  };
}

function deliveryView(delivery: PeerDelivery | undefined): object | null {
  if (!delivery) return null;
  return {
    queued: delivery.queued,
    failures: delivery.failures,
    failing_since: instantOf(delivery.failingSince),
    next_attempt_at: instantOf(delivery.nextAttemptAt),
    last_success_at: instantOf(delivery.lastSuccessAt),
    last_error: delivery.lastError,
    last_error_at: instantOf(delivery.lastErrorAt),
  };
}

function instantOf(date: Date | null | undefined): string | null {
  return date ? formatInstant(date) : null;
}
