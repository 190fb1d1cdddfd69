// The principal room.
export { type Certifier, principalCertifier } from './certify-principal.js';
export {
  addressTaken,
  type CreatePrincipal,
  createPrincipal,
  type PrincipalCreated,
  type PrincipalGateway,
  type PrincipalRefusal,
  type PrincipalRequest,
  preparePrincipal,
  storePrincipal,
} from './create-principal.js';
export { type Asker, type DirectoryEntry, type DirectoryPage, directoryFor } from './directory.js';
export {
  type Principal,
  type PrincipalKey,
  type PrincipalStatus,
  type Role,
  receives,
  roles,
  type Visibility,
  visibilities,
} from './principal.js';
export {
  currentPrincipalKey,
  type ListPrincipals,
  listPrincipals,
  moveStatus,
  principalByAddress,
  principalByHome,
  principalById,
} from './store.js';
