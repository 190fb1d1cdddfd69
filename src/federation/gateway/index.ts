// The gateway room: what crosses the border of the domain, in and out.
export { acceptTogether, type SharedAccepts } from './accept-together.js';
export { readRetryAfter } from './exchange-transaction.js';
export type { DoorRequest } from './prove-origin.js';
export { proveReader, readTransitionLog } from './read-transitions.js';
export { receiveTransaction } from './receive-transaction.js';
export { interactionAdapter } from './send-interaction.js';
export { sendTransaction } from './send-transaction.js';
export { buryUndelivered, sweepFederation } from './sweep.js';
