// A peer as the admin API shows it.
import type { Peer } from '../../federation/index.js';
import { formatInstant } from '../../protocol/index.js';

export function peerView(peer: Peer): object {
  return {
    domain: peer.domain,
    relationship: peer.relationship,
    fingerprint: peer.fingerprint ?? null,
    gateway: peer.gateway ?? null,
    bundle_sequence: peer.bundle?.sequence ?? null,
    bundle_fetched_at: peer.bundleFetchedAt ? formatInstant(peer.bundleFetchedAt) : null,
    held_reason: peer.heldReason ?? null,
    last_error: peer.lastError ?? null,
  };
}
