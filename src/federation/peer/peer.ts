/**
 * A peer: another domain as known here. `pinned` was named by an operator with its fingerprint, a `stranger` was only
 * looked up, `blocked` is refused. Whatever the relationship, keys are believed only by continuity of the bundle.
 */
import {
  type Domain,
  type DomainBundle,
  keyAt,
  LIMITS,
  ownLimits,
  type PublicKey,
  parseKeyRef,
  type ReceiverLimits,
} from '../../protocol/index.js';

export type Relationship = 'pinned' | 'stranger' | 'blocked';

/** The record of a peer; a stored bundle was verified before it was stored. */
export interface Peer {
  domain: Domain;
  relationship: Relationship;
  fingerprint: string | undefined;
  gateway: string | undefined;
  receiverLimits: ReceiverLimits | undefined;
  bundle: DomainBundle | undefined;
  bundleValidUntil: Date | undefined;
  bundleFetchedAt: Date | undefined;
  refreshAfter: Date | undefined;
  forcedFetchAt: Date | undefined;
  incarnation: string | undefined;
  heldReason: string | undefined;
  lastError: string | undefined;
}

/** A peer whose keys can be used now: its bundle is valid and continuous. */
export interface KnownPeer {
  domain: Domain;
  relationship: Relationship;
  fingerprint: string;
  gateway: string;
  /** What one request to it may hold, and how many may be under way. */
  limits: ReceiverLimits;
  bundle: DomainBundle;
  /** What it said of its own restores when it last sent something. */
  incarnation: string | undefined;
}

/** One forced refetch per domain in this time, however many unknown keys are named (D2, BR-bounds). */
const forcedFetchEveryMs = 60_000;
/** Strangers whose record is kept at most; the one seen longest ago makes room. */
export const strangersKept = 1_000;

/** The peer as usable at `now`, or undefined while there is no valid bundle or the operator has to look. */
export function usablePeer(peer: Peer | undefined, now: Date): KnownPeer | undefined {
  if (!peer?.bundle || peer.heldReason !== undefined || peer.gateway === undefined) return undefined;
  if (!peer.bundleValidUntil || peer.bundleValidUntil <= now) return undefined;
  const { domain, relationship, gateway, bundle, incarnation, receiverLimits: limits = ownLimits } = peer;
  return { domain, relationship, gateway, limits, bundle, incarnation, fingerprint: bundle.first_kid };
}

/** Whether a look at the peer's own door is due: nothing usable, an old bundle, or a key that it does not name. */
export function fetchIsDue(peer: Peer | undefined, { now, kid }: { now: Date; kid: string | undefined }): boolean {
  // refreshAfter also stands for "do not ask again before" after a failed look.
  if (!peer?.refreshAfter || peer.refreshAfter <= now) return true;
  const known = usablePeer(peer, now);
  if (!known) return false;
  if (kid === undefined || namesKey(known.bundle, kid)) return false;
  return !peer.forcedFetchAt || now.getTime() - peer.forcedFetchAt.getTime() >= forcedFetchEveryMs;
}

/** When a bundle fetched at `now` is looked at again: its own hint, within what the wire allows. */
export function refreshAfter(bundle: DomainBundle, now: Date): Date {
  const hintMs = Math.min(bundle.refresh_hint_s, LIMITS.refreshHintS) * 1000;
  return new Date(now.getTime() + hintMs);
}

/** The domain key that a request or a receipt names, as of `issuedAt`; undefined when the peer does not vouch for it. */
export function domainKeyOf(peer: KnownPeer, keyRef: string, issuedAt: Date): PublicKey | undefined {
  const parsed = parseKeyRef(keyRef);
  if (parsed?.owner !== 'domain' || parsed.domain !== peer.domain) return undefined;
  const found = keyAt(peer.bundle, parsed.kid, issuedAt);
  return found.ok ? found.key : undefined;
}

function namesKey(bundle: DomainBundle, kid: string): boolean {
  return (
    [...bundle.keys, ...bundle.retired_keys].some((key) => key.kid === kid) ||
    bundle.revoked.some((entry) => entry.subject === kid)
  );
}
