// The door of the run event room: what happened in a run, by cursor.
export { type NewRunEvent, type RunEvent, runChannel } from './run-event.js';
export { type AppendRunEvents, appendRunEvents, holdRunningRun, type RunEventPage, readRunEvents } from './store.js';
