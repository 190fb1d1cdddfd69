/** The door of the timed-list room. */
export { between, inOrder, inRange, inScope, placeColumn, readEdges } from './store.js';
export {
  type Placed,
  readTimed,
  type TimedPlace,
  type TimedRange,
  type TimedRows,
} from './timed-list.js';
