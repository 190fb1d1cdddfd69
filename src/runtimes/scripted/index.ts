/** The door of the scripted runtime. */
export { parseScript, scriptLimits } from './script.js';
export { scriptedRuntime } from './scripted-runtime.js';
