/** The door of the input room. */
export { type AcceptedInput, type AcceptInput, acceptInput, acceptInputs } from './accept-input.js';
export {
  type AgentInput,
  agentInputSchema,
  type ControlVerb,
  controlVerbs,
  type Ingress,
  type InputKind,
  inputLimits,
  isTypePattern,
  parseAgentInput,
  type TrustClass,
} from './agent-input.js';
export { sequenceInputs } from './sequence-inputs.js';
export {
  advanceResolvedPosition,
  type InputRecord,
  lockResolvedPosition,
  selectInput,
  selectLoggedInputs,
  unresolvedTenants,
} from './store.js';
