// The quarantine room: what was verified in origin and not admitted.
export { dropHeld } from './drop-held.js';
export { parkItems } from './park-items.js';
export { boundPassed, overall, perOrigin, type QuarantineItem } from './quarantine.js';
export { dropExpired, type HeldItem, listQuarantine } from './store.js';
