// The key custody room.
export type { CustodyKey, KeyCustody } from './key-custody.js';
export { type OpenKeyCustody, openKeyCustody, requireSameKey } from './open-key-custody.js';
