/** The door of the run room. */
export {
  insertControl,
  isCancelWanted,
  markDelivered,
  type RunControl,
  repeatSteers,
  selectOpenControls,
  selectUndeliveredSteers,
} from './control-store.js';
export { type ListRuns, selectRuns } from './listing-store.js';
export {
  type ClaimedRun,
  controlChannel,
  type EndedRunStatus,
  type RunRecord,
  runLimits,
  runStatuses,
} from './run.js';
export {
  endRun,
  extendLeases,
  insertRun,
  lockExpiredRun,
  lockHeldRun,
  lockQueuedRun,
  postponeReaping,
  type QueuedRun,
  type RunPlace,
  recordBundle,
  recordModelInput,
  selectExpiredRuns,
  selectQueuedRuns,
  selectRun,
  startRun,
} from './store.js';
