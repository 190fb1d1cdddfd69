// The outbox room: what waits for which peer, and when each peer is tried again.
export { jitterFrom, jitterTo, nextAttempt } from './back-off.js';
export {
  listOutbox,
  type OutboxEntry,
  type PeerDelivery,
  readDeliveries,
  readOutboxEntry,
} from './listing-store.js';
export {
  allowEarlyProbe,
  buryExpired,
  claimDelivery,
  countAttempts,
  type DeliveryClaim,
  type DeliveryState,
  deliverablePeers,
  endItem,
  holdItem,
  type ItemEnd,
  noteFailure,
  noteSuccess,
  type OutboxItem,
  queueItem,
  releaseDelivery,
  takeItems,
} from './store.js';
