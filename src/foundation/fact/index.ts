/** The door of the fact room. */
export {
  effectFact,
  type Fact,
  factLimits,
  foundationPrincipal,
  runFact,
} from './fact.js';
export { noteFact, noteFacts, writeFact } from './note-fact.js';
export { causeOfRun, lockedFact } from './store.js';
