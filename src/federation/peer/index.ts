// The peer room: other domains, their keys and what an operator decided about them.
export { domainKeyOf, type KnownPeer, type Peer, strangersKept } from './peer.js';
export { createPeers, type Peers, peerBundle } from './peer-bundle.js';
export { blockPeer, pinDomain, pinPeer } from './pin-peer.js';
export { duePeers, listPeers, readPeer, saveIncarnation } from './store.js';
