/** The door of the Foundation: one agent and its world, complete without a home or a peer. */
export * from './activation/index.js';
export * from './audit/index.js';
export { type ContextBundle, type Observation, type ReadBundle, readBundle } from './context/index.js';
export { type CreateFoundation, createFoundation } from './create-foundation.js';
export * from './effect/index.js';
export { type EnvironmentState, selectStates } from './environment/index.js';
export {
  type AcceptedInput,
  type AcceptInput,
  type AgentInput,
  acceptInput,
  type ControlVerb,
  controlVerbs,
  type Ingress,
  type InputKind,
  type InputRecord,
  inputLimits,
  parseAgentInput,
  sequenceInputs,
  type TrustClass,
} from './input/index.js';
export { mintFrom, newId } from './new-id.js';
export { type FoundationParts, foundationChannels, type StepOutcome } from './parts.js';
export * from './ports.js';
export { type RunRecord, type RunStatus, runLimits, runStatuses } from './run/index.js';
export * from './run-event/index.js';
export {
  type Activation,
  createRuntimeRegistry,
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
  conversationKey,
  correlationKey,
  linkSession,
  type SessionRecord,
  selectSession,
  subjectKey,
} from './session/index.js';
export {
  type AddStandingSubscription,
  addStandingSubscription,
  checkSubscription,
  endStandingSubscription,
  listSubscriptions,
  type SubscriptionRecord,
  type SuspensionRecord,
} from './suspension/index.js';
