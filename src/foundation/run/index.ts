/** The door of the run room. */
export {
  type InsertControl,
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
  type EndRun,
  endRun,
  extendLeases,
  type InsertRun,
  insertRun,
  type ListRuns,
  lockExpiredRun,
  lockHeldRun,
  type RunPlace,
  recordBundle,
  recordModelInput,
  type StartRun,
  selectExpiredRuns,
  selectQueuedRuns,
  selectRun,
  selectRuns,
  startRun,
} from './store.js';
