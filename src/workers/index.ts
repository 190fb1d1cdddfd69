// The clockwork: one loop a file; what each step does is written in the rooms below.
export { runDeliverOutbox } from './deliver-outbox.js';
export { type FoundationLoops, startFoundationLoops } from './foundation/index.js';
export { runKeepLeases } from './keep-leases.js';
export { runReapRuns } from './reap-runs.js';
export { runRefreshPeers } from './refresh-peers.js';
export { runReplaySuspensions } from './replay-suspensions.js';
export { runResolveInputs } from './resolve-inputs.js';
export { runStartRuns } from './start-runs.js';
export { runSweepFederation } from './sweep-federation.js';
