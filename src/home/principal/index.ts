// The principal room.
export { type Certifier, principalCertifier } from './certify-principal.js';
export {
  addressTaken,
  createPrincipal,
  type PrincipalCreated,
  type PrincipalGateway,
  type PrincipalRefusal,
  type PrincipalRequest,
  preparePrincipal,
  storePrincipal,
} from './create-principal.js';
export { type Asker, directoryFor } from './directory.js';
export {
  type Principal,
  type PrincipalKey,
  type PrincipalStatus,
  type Role,
  receives,
  roles,
  visibilities,
} from './principal.js';
export {
  currentPrincipalKey,
  currentPrincipalKeys,
  listPrincipals,
  moveStatus,
  principalByAddress,
  principalByHome,
  principalById,
  principalsByAddress,
  principalsByHome,
} from './store.js';
