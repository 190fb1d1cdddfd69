/** The door of the runtime room. */
export { createLiveRuns, type LiveRun, type LiveRuns, type Reservation, type StopReason } from './live-runs.js';
export type { PlacedAgent } from './placed-agents.js';
export {
  type Activation,
  missingRuntime,
  type RunEnding,
  type Runtime,
  type RuntimeDescriptor,
  type RuntimeEvent,
  type RuntimeKind,
  type RuntimeProposal,
  type RuntimeRegistry,
  type Steering,
  type SuspensionRequest,
} from './runtime.js';
export { createRuntimeRegistry } from './runtime-registry.js';
