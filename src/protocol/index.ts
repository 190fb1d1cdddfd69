/** The door of the protocol room: the whole wire grammar, pure. No clock, no sockets, no SQL; instants are passed in. */

export * from './address.js';
export * from './agent-key-certificate.js';
export * from './canonical-json.js';
export * from './commitment-fold.js';
export * from './commitment-transition.js';
export * from './discovery.js';
export * from './domain-bundle.js';
export * from './ed25519.js';
export * from './encoding.js';
export * from './envelope.js';
export * from './genesis.js';
export * from './http-signature.js';
export * from './identifier.js';
export * from './interaction.js';
export * from './jws.js';
export * from './limits.js';
export * from './problem.js';
export * from './receipt.js';
export * from './signed-document.js';
export * from './strict-json.js';
export * from './transaction.js';
export * from './wire-schema.js';
