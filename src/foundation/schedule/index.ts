/** The door of the schedule room. */
export { addSchedule } from './add-schedule.js';
export { fireSchedules, msToNextSlot } from './fire-schedules.js';
export { type ScheduleRecord, scheduleLimits, scheduleShape } from './schedule.js';
export { scheduleAdapter } from './schedule-adapter.js';
export { cancelSchedule, selectSchedule, selectSchedules } from './store.js';
export { stopWatching, watchExpiry } from './watch-expiry.js';
