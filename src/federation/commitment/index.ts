// The commitment room: promises as signed transitions, and what they fold to here.
export { applyTransition } from './apply-transition.js';
export type { StoredTransition } from './commitment.js';
export { admitLocally, type Commitment, readCommitment, readLogFor } from './read-commitment.js';
export { type CommitmentRow, listCommitmentRows } from './store.js';
