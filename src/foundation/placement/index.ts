/** The door of the placement room. */
export { placementLimits } from './placement.js';
export { tablePlacements } from './table-placements.js';
