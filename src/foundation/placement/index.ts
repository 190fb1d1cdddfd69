/** The door of the placement room. */
export { type LeaseClock, leaseClock } from './lease-clock.js';
export { placementLimits } from './placement.js';
export { tablePlacements } from './table-placements.js';
