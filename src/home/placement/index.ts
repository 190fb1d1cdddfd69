// The placement room.
export { homePlacements } from './home-placements.js';
export { placementTtlMs } from './placement.js';
export { lapsePlacement, readPlacement } from './store.js';
