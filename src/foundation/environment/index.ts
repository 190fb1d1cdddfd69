/** The door of the environment room. */
export { projectedResource, projectInput } from './project-input.js';
export { type EnvironmentState, selectStates } from './store.js';
