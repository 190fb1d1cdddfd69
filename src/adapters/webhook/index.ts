// Webhooks of the outside world, as pure functions: is it really theirs, and what does it say.
export { normalizeGithubDelivery } from './github-event.js';
export { verifyGithubSignature } from './github-signature.js';
