// The domain room.
export { type BundleGateway, currentBundle, type SignedBundle } from './current-bundle.js';
export { type DomainRecord, keyLifetimeDays } from './domain-record.js';
export { type DomainSigner, domainFingerprint, domainSigner } from './domain-signer.js';
export { type OpenDomain, openDomain } from './open-domain.js';
export { lockDomain, readDomain } from './store.js';
