// The domain room.
export { currentBundle } from './current-bundle.js';
export { type DomainRecord, keyLifetimeDays } from './domain-record.js';
export { type DomainSigner, domainFingerprint, domainSigner } from './domain-signer.js';
export { openDomain } from './open-domain.js';
export { lockDomain, readCursorKey, readDomain } from './store.js';
