// What an operator decides about a domain: pin it by its fingerprint, or block it. Looking a domain up never does either.
import { appendAudit } from '../../foundation/index.js';
import type { Domain } from '../../protocol/index.js';
import { domainTag } from '../parts.js';
import type { Peer } from './peer.js';
import { type PeerAnswer, type Peers, peerBundle } from './peer-bundle.js';
import { readPeer, saveBlock, savePin } from './store.js';

interface Pin {
  domain: Domain;
  fingerprint: string;
}

/** Address of who decides, for the audit. */
interface Decided {
  actor: string;
}

export type PinResult = { peer: Peer; look: PeerAnswer };

/** Pins first, then looks: a peer that is down can be pinned, and `look` says whether it already answers as expected. */
export async function pinPeer(peers: Peers, { actor, ...pin }: Pin & Decided): Promise<PinResult> {
  await peers.db.transact('peer.pin', async (tx) => {
    await savePin(tx, pin);
    await appendAudit(tx, {
      home: domainTag,
      actor,
      action: 'peer.pin',
      object: pin.domain,
      outcome: 'pinned',
      details: { fingerprint: pin.fingerprint },
    });
  });
  peers.silent.delete(pin.domain);
  const look = await peerBundle(peers, pin.domain);
  const peer = await readPeer(peers.db.sql, pin.domain);
  if (!peer) throw new Error(`the pinned peer ${pin.domain} is gone`);
  return { peer, look };
}

/** Pins without looking: how a domain pins itself at start, before its own door is open. */
export async function pinDomain(peers: Peers, pin: Pin): Promise<void> {
  await peers.db.transact('peer.pin', (tx) => savePin(tx, pin));
}

/** Also a domain that was never heard of: nothing of it will be. */
export async function blockPeer(peers: Peers, { domain, actor }: { domain: Domain } & Decided): Promise<void> {
  await peers.db.transact('peer.block', async (tx) => {
    await saveBlock(tx, domain);
    await appendAudit(tx, { home: domainTag, actor, action: 'peer.block', object: domain, outcome: 'blocked' });
  });
}
