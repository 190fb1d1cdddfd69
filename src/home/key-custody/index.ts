// The key custody room.
export type { CustodyKey, KeyCustody } from './key-custody.js';
export { openKeyCustody, requireSameKey } from './open-key-custody.js';
