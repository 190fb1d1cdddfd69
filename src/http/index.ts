// The doors of a domain: two listeners, and what is behind each.
export { openInputDoor } from './accept-at-door.js';
export type { DoorUrls } from './admin-api/get-domain.js';
export { createCursors } from './cursor.js';
export { federationEndpoints } from './federation-door.js';
export type { Health } from './health.js';
export { privateEndpoints } from './private-door.js';
export { type Listener, openListener } from './server.js';
