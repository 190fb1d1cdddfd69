// The federation: trust, delivery and promises between domains. Each room's door, in one.
export * from './commitment/index.js';
export * from './gateway/index.js';
export * from './interaction/index.js';
export * from './outbox/index.js';
export { domainTag, federationChannels, type Gateway } from './parts.js';
export * from './peer/index.js';
export * from './quarantine/index.js';
export * from './receipt/index.js';
