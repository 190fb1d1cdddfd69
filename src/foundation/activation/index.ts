/** The door of the activation room. */
export { type ActivationFacts, type Decision, decideActivation } from './decide-activation.js';
export { drainRuns } from './drain-runs.js';
export { keepLeases } from './keep-leases.js';
export { type Disposition, type InputView, type Reader, readInput } from './read-input.js';
export { listRuns, type RunView, readRun } from './read-run.js';
export { reapRuns } from './reap-runs.js';
export { replaySuspensions } from './replay-suspensions.js';
export { resolveInputs } from './resolve-inputs.js';
export { startRuns } from './start-runs.js';
