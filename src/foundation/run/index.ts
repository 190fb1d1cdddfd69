/** The door of the run room. */
export {
  insertControl,
  isCancelWanted,
  markDelivered,
  type RunControl,
  repeatSteers,
  selectMissedRuns,
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
  endRuns,
  extendLeases,
  insertRuns,
  lockExpiredRun,
  lockHeldRun,
  lockQueuedRun,
  postponeReaping,
  type QueuedRun,
  type RunPlace,
  recordModelInput,
  selectExpiredRuns,
  selectQueuedRuns,
  selectRun,
  startQueuedRuns,
} from './store.js';
