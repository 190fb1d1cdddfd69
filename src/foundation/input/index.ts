/** The door of the input room. */
export { type AcceptedInput, type AcceptInput, acceptInput, acceptInputs } from './accept-input.js';
export {
  type AgentInput,
  agentInputSchema,
  type ControlVerb,
  controlVerbs,
  depthOf,
  type Ingress,
  type InputKind,
  type InputPriority,
  inputLimits,
  isTypePattern,
  parseAgentInput,
  type Relationship,
  type TrustClass,
} from './agent-input.js';
export { sequenceInputs } from './sequence-inputs.js';
export {
  advanceResolvedPosition,
  type InputRecord,
  lockResolvedPosition,
  selectInput,
  selectLoggedInputs,
  selectResolvedPosition,
  unresolvedTenants,
} from './store.js';
