/** The door of the embedding room: ports for an embedder that brings no homes. */
export {
  type EmbeddedAgent,
  embeddedAuthority,
  embeddedDirectory,
  embeddedHome,
  embeddedTenant,
} from './embedded-agents.js';
export { embeddedPlacements } from './embedded-placements.js';
export { functionRuntime } from './function-runtime.js';
