// The door of the run event room: what happened in a run, by cursor.
export { type NewRunEvent, type RunEvent, runChannel } from './run-event.js';
export {
  appendRunEvents,
  countRuntimeEvents,
  holdRunningRun,
  holdRunningRuns,
  insertEventsOfRuns,
  readRunEvents,
} from './store.js';
