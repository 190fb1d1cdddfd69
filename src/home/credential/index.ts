// The credential room.
export { authenticate } from './authenticate.js';
export { type AuthenticatedCaller, type Credential, type CredentialKind, credentialKinds } from './credential.js';
export { ensureOperator, type OperatorMade } from './ensure-operator.js';
export {
  type CredentialIssued,
  type IssueCredential,
  issueCredential,
  revokeCredential,
} from './issue-credential.js';
export { listCredentials } from './store.js';
