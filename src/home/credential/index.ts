// The credential room.
export { authenticate } from './authenticate.js';
export { type AuthenticatedCaller, type Credential, type CredentialKind, credentialKinds } from './credential.js';
export { ensureOperator, type OperatorMade } from './ensure-operator.js';
export {
  type CredentialGateway,
  type CredentialIssued,
  type CredentialRefusal,
  type IssueCredential,
  issueCredential,
  revokeCredential,
} from './issue-credential.js';
export { type ListCredentials, listCredentials } from './store.js';
