// What an operator decides about a domain: pin it by its fingerprint, or block it. Looking a domain up never does either.
import type { Domain } from '../../protocol/index.js';
import type { Peer } from './peer.js';
import { type PeerAnswer, type Peers, peerBundle } from './peer-bundle.js';
import { readPeer, saveBlock, savePin } from './store.js';

export type PinResult = { peer: Peer; look: PeerAnswer };

/** Pins first, then looks: a peer that is down can be pinned, and `look` says whether it already answers as expected. */
export async function pinPeer(peers: Peers, pin: { domain: Domain; fingerprint: string }): Promise<PinResult> {
  await pinDomain(peers, pin);
  peers.silent.delete(pin.domain);
  const look = await peerBundle(peers, pin.domain);
  const peer = await readPeer(peers.db.sql, pin.domain);
  if (!peer) throw new Error(`the pinned peer ${pin.domain} is gone`);
  return { peer, look };
}

/** Pins without looking: how a domain pins itself at start, before its own door is open. */
export async function pinDomain(peers: Peers, pin: { domain: Domain; fingerprint: string }): Promise<void> {
  await peers.db.transact('peer.pin', (tx) => savePin(tx, pin));
}

export async function blockPeer(peers: Peers, domain: Domain): Promise<void> {
  await peers.db.transact('peer.block', (tx) => saveBlock(tx, domain));
}
