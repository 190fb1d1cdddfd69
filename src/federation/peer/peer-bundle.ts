/**
 * The keys of a peer, as fresh as its refresh hint asks for. Looking somebody up costs requests, so each domain is asked at
 * most once at a time, after a failure not before a while, and everything keyed by remote input is bounded.
 */
import { LRUCache } from 'lru-cache';
import { type Clock, type Database, type Log, PeerError, type PeerHttp } from '../../platform/index.js';
import {
  type BundleTrust,
  type Domain,
  type Refusal,
  refuse,
  type VerifiedBundle,
  verifyBundle,
} from '../../protocol/index.js';
import { type Discovered, discoverPeer } from './discover-peer.js';
import { fetchIsDue, type KnownPeer, type Peer, refreshAfter, usablePeer } from './peer.js';
import { readPeer, saveBundle, saveFailedFetch, trimStrangers } from './store.js';

/** What the room needs to look at peers; made once by `createPeers`. */
export interface Peers {
  readonly db: Database;
  readonly http: PeerHttp;
  readonly clock: Clock;
  readonly log: Log;
  /** Look-ups under way, so that many questions about one domain are one look. */
  readonly underWay: Map<Domain, Promise<PeerUnusable | undefined>>;
  /** Unknown domains that did not answer, until when they are not asked again. */
  readonly silent: LRUCache<Domain, string>;
}

type PeerUnusable = Refusal<'peer_unreachable' | 'peer_held'>;
export type PeerAnswer = { ok: true; peer: KnownPeer } | PeerUnusable;

const looksAtOnce = 16;
const strangerRetryMs = 600_000;
const goodBundleRetryMs = 30_000;
const noBundleRetryMs = 2_000;
const heldRetryMs = 60_000;

export function createPeers(parts: { db: Database; http: PeerHttp; clock: Clock; log: Log }): Peers {
  return { ...parts, underWay: new Map(), silent: new LRUCache({ max: 10_000, ttl: strangerRetryMs }) };
}

/** The peer with keys that are valid now; `kid` asks for a look when the stored bundle does not name that key. */
export async function peerBundle(peers: Peers, domain: Domain, kid?: string): Promise<PeerAnswer> {
  const stored = await readPeer(peers.db.sql, domain);
  if (!fetchIsDue(stored, { now: peers.clock.now(), kid })) return answerOf(stored, peers.clock.now());
  const silence = stored ? undefined : peers.silent.get(domain);
  if (silence !== undefined) return refuse('peer_unreachable', silence);
  const fault = await lookOnce(peers, domain, stored);
  const fresh = await readPeer(peers.db.sql, domain);
  const answer = answerOf(fresh, peers.clock.now());
  return answer.ok ? answer : (fault ?? answer);
}

function answerOf(peer: Peer | undefined, now: Date): PeerAnswer {
  const known = usablePeer(peer, now);
  if (known) return { ok: true, peer: known };
  if (peer?.heldReason !== undefined) return refuse('peer_held', peer.heldReason);
  return refuse('peer_unreachable', peer?.lastError ?? 'no valid bundle of this domain is here');
}

function lookOnce(peers: Peers, domain: Domain, stored: Peer | undefined): Promise<PeerUnusable | undefined> {
  const running = peers.underWay.get(domain);
  if (running) return running;
  // Names that anybody can make up never take the place of a domain that the operator pinned.
  if (stored?.relationship !== 'pinned' && peers.underWay.size >= looksAtOnce) {
    return Promise.resolve(refuse('peer_unreachable', 'too many domains are being looked up'));
  }
  const look = lookAt(peers, domain, stored).finally(() => peers.underWay.delete(domain));
  peers.underWay.set(domain, look);
  return look;
}

async function lookAt(peers: Peers, domain: Domain, stored: Peer | undefined): Promise<PeerUnusable | undefined> {
  const now = peers.clock.now();
  // A look before the bundle is old was forced by an unknown key.
  const forced = stored?.refreshAfter !== undefined && stored.refreshAfter > now;
  const found = await ask(peers, domain);
  if ('reason' in found) {
    await noteFailure(peers, { domain, stored, fault: found, forced });
    return found;
  }
  const verified = await verifyBundle(found.bundle, { domain, now: peers.clock.now(), pinned: trustIn(stored) });
  if (!verified.ok) {
    const broken = breaksContinuity(verified.reason);
    const fault = refuse(broken ? 'peer_held' : 'peer_unreachable', `${verified.reason}: ${verified.detail}`);
    await noteFailure(peers, { domain, stored, fault, forced });
    return fault;
  }
  await keep(peers, { domain, found, verified, forced });
  return undefined;
}

async function ask(peers: Peers, domain: Domain): Promise<Discovered | PeerUnusable> {
  try {
    return await discoverPeer(peers.http, domain);
  } catch (error) {
    if (error instanceof PeerError) return refuse('peer_unreachable', error.message);
    throw error;
  }
}

function trustIn(stored: Peer | undefined): BundleTrust {
  if (stored?.bundle) return { bundle: stored.bundle };
  return stored?.fingerprint === undefined ? { firstContact: true } : { fingerprint: stored.fingerprint };
}

function breaksContinuity(reason: string): boolean {
  return (
    reason === 'bundle_fingerprint_mismatch' ||
    reason === 'bundle_continuity_broken' ||
    reason === 'bundle_sequence_lower' ||
    reason === 'bundle_sequence_reused'
  );
}

type Found = { domain: Domain; found: Discovered; verified: VerifiedBundle; forced: boolean };

async function keep(peers: Peers, { domain, found, verified, forced }: Found): Promise<void> {
  await peers.db.transact('peer.bundle', async (tx) => {
    await saveBundle(tx, {
      domain,
      gateway: found.gateway,
      limits: found.limits,
      token: found.bundle,
      content: verified.bundle,
      validUntil: verified.validUntil,
      refreshAfter: refreshAfter(verified.bundle, peers.clock.now()),
      forced,
    });
    await trimStrangers(tx);
  });
}

type Failure = { domain: Domain; stored: Peer | undefined; fault: PeerUnusable; forced: boolean };

async function noteFailure(peers: Peers, { domain, stored, fault, forced }: Failure): Promise<void> {
  peers.log.info({ peer: domain, reason: fault.reason, detail: fault.detail }, 'looking at a peer failed');
  if (!stored) {
    peers.silent.set(domain, fault.detail);
    return;
  }
  const held = fault.reason === 'peer_held';
  const retryAfter = new Date(peers.clock.now().getTime() + retryMs(peers, stored, held));
  await peers.db.transact('peer.failed', (tx) =>
    saveFailedFetch(tx, {
      domain,
      error: fault.detail,
      heldReason: held ? fault.detail : undefined,
      retryAfter,
      forced,
    }),
  );
}

function retryMs(peers: Peers, stored: Peer, held: boolean): number {
  if (held) return heldRetryMs;
  if (stored.relationship !== 'pinned') return strangerRetryMs;
  return usablePeer(stored, peers.clock.now()) ? goodBundleRetryMs : noBundleRetryMs;
}
