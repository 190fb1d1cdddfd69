/** The door of the input room. */
export { type AcceptedInput, type AcceptInput, acceptInput, acceptInputs } from './accept-input.js';
export {
  type AgentInput,
  agentInputSchema,
  type ControlVerb,
  controlVerbs,
  depthOf,
  foundationSource,
  type Ingress,
  type InputKind,
  type InputPriority,
  inputLimits,
  isTypePattern,
  parseAgentInput,
  type Relationship,
  scheduleSource,
  type TrustClass,
} from './agent-input.js';
export {
  advanceResolvedPosition,
  awaitLog,
  type InputRecord,
  lockLog,
  numberInputs,
  openLog,
  selectInput,
  selectInputs,
  selectResolvedPosition,
  selectUnresolvedInputs,
  waitingTenants,
} from './store.js';
