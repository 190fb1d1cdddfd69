// The capability room: who may do what.
export { grantAuthority } from './authorize-proposal.js';
