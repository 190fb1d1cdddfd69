// The outbox room: what waits for which peer, and when each peer is tried again.
export { jitterFrom, jitterTo, nextAttempt } from './back-off.js';
export {
  listOutbox,
  type OutboxEntry,
  type PeerDelivery,
  readDeliveries,
  readOutboxEntry,
} from './listing-store.js';
export { type QueueItem, queueItems } from './queue-store.js';
export {
  allowEarlyProbe,
  buryExpired,
  claimDelivery,
  countAttempts,
  countWaiting,
  type DeliveryClaim,
  type DeliveryState,
  deliverablePeers,
  endItems,
  holdItems,
  type ItemEnd,
  noteFailure,
  noteSuccess,
  type OutboxItem,
  releaseDelivery,
  type Track,
  takeItems,
} from './store.js';
