/** The door of the activation room. */
export { type ActivationFacts, type AttentionVerdict, type Decision, decideActivation } from './decide-activation.js';
export { drainRuns } from './drain-runs.js';
export { expireSuspensions } from './expire-suspensions.js';
export { fanOutLimits } from './find-candidates.js';
export { keepLeases } from './keep-leases.js';
export { laneLimits } from './lane.js';
export { listInputs } from './list-inputs.js';
export { openLanes } from './open-lanes.js';
export {
  type Disposition,
  type InputView,
  type Reader,
  readDispositions,
  readInput,
} from './read-input.js';
export { listRuns, type RunView, readRun } from './read-run.js';
export { listSessions, readSession } from './read-session.js';
export { reapRuns } from './reap-runs.js';
export { replaySuspensions } from './replay-suspensions.js';
export { resolveInputs } from './resolve-inputs.js';
export { agentsToGive, sharePlacements } from './share-placements.js';
export { type Settles, shareSettles } from './share-settles.js';
export { startRuns } from './start-runs.js';
