// The placement room.
export { homePlacements } from './home-placements.js';
export { lapsePlacement, readPlacement } from './store.js';
