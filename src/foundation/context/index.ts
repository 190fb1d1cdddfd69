/** The door of the context room. */
export { type ContextBundle, contextLimits, type Observation, projectorVersion } from './context-bundle.js';
export { bundleBytes, type ContextFacts, projectContext } from './project-context.js';
export { type ReadBundle, readBundle } from './read-bundle.js';
export { insertBundle } from './store.js';
