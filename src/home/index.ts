// A domain's own: principals, homes, keys, credentials, mailboxes, conversations and placement. Each room's door, in one.
export * from './agent-home/index.js';
export * from './capability/index.js';
export * from './conversation/index.js';
export * from './credential/index.js';
export * from './domain/index.js';
export * from './key-custody/index.js';
export * from './mailbox/index.js';
export * from './placement/index.js';
export * from './principal/index.js';
export * from './webhook-source/index.js';
