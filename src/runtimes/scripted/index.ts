/** The door of the scripted runtime. */
export { parseScript, type Script, scriptLimits } from './script.js';
export { scriptedRuntime } from './scripted-runtime.js';
