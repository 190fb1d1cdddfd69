/** The door of the Foundation: one agent and its world, complete without a home or a peer. */
export * from './activation/index.js';
export { type AttentionFacts, attentionLimits, weighAttention } from './attention/index.js';
export * from './audit/index.js';
export { readBundle } from './context/index.js';
export { createFoundation } from './create-foundation.js';
export * from './effect/index.js';
export * from './embedding/index.js';
export { type Fact, factLimits, noteFact, noteFacts } from './fact/index.js';
export {
  type AcceptedInput,
  type AcceptInput,
  type AgentInput,
  acceptInput,
  acceptInputs,
  agentInputSchema,
  controlVerbs,
  type Ingress,
  type InputPriority,
  inputLimits,
  isTypePattern,
  parseAgentInput,
  type TrustClass,
} from './input/index.js';
export { mintFrom } from './new-id.js';
export { type FoundationParts, foundationChannels } from './parts.js';
export { placementLimits, tablePlacements } from './placement/index.js';
export * from './ports.js';
export { type RunRecord, runLimits, runStatuses } from './run/index.js';
export * from './run-event/index.js';
export {
  type Activation,
  createRuntimeRegistry,
  missingRuntime,
  type RunEnding,
  type Runtime,
  type RuntimeDescriptor,
  type RuntimeEvent,
  type RuntimeKind,
  type RuntimeProposal,
  type RuntimeRegistry,
  type Steering,
} from './runtime/index.js';
export {
  addSchedule,
  cancelSchedule,
  fireSchedules,
  msToNextSlot,
  type ScheduleRecord,
  scheduleAdapter,
  scheduleLimits,
  scheduleShape,
  selectSchedule,
  selectSchedules,
  stopWatching,
  watchExpiry,
} from './schedule/index.js';
export {
  conversationKey,
  type ListedSession,
  linkSession,
  subjectKey,
} from './session/index.js';
export {
  addStandingSubscription,
  checkSubscription,
  endStandingSubscription,
  listSubscriptions,
  type SubscriptionRecord,
  suspensionLimits,
} from './suspension/index.js';
export type { TimedPlace, TimedRange, TimedRows } from './timed-list/index.js';
