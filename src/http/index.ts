// The doors of a domain: two listeners, and what is behind each.
export type { DoorUrls } from './admin-api/get-domain.js';
export { type FederationDoor, federationEndpoints } from './federation-door.js';
export type { Health } from './health.js';
export { type PrivateDoor, privateEndpoints } from './private-door.js';
export { type Listener, type OpenListener, openListener } from './server.js';
