// The quarantine room: what was verified in origin and not admitted.

export { parkItems } from './park-items.js';
export { boundPassed, overall, perOrigin, type QuarantineItem } from './quarantine.js';
export { dropExpired } from './store.js';
