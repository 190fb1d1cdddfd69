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
export {
  type ClaimedRun,
  controlChannel,
  type EndedRunStatus,
  type RunRecord,
  type RunStatus,
  runLimits,
  runStatuses,
} from './run.js';
export {
  endRun,
  extendLeases,
  insertRun,
  lockExpiredRun,
  lockHeldRun,
  type RunPlace,
  recordBundle,
  recordModelInput,
  selectExpiredRuns,
  selectQueuedRuns,
  selectRun,
  selectRuns,
  startRun,
} from './store.js';
