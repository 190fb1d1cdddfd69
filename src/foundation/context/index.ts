/** The door of the context room. */
export type { ContextBundle } from './context-bundle.js';
export { bundleBytes, projectContext } from './project-context.js';
export { readBundle } from './read-bundle.js';
export { insertBundles } from './store.js';
