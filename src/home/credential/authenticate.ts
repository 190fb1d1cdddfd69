// From a bearer token to the caller it proves. One answer for every failure, so that it tells nothing.
import { timingSafeEqual } from 'node:crypto';
import type { Sql } from '../../platform/index.js';
import { receives } from '../principal/index.js';
import { type AuthenticatedCaller, type Caller, hashToken, isToken } from './credential.js';
import { type FoundCredential, findCredential } from './store.js';

export async function authenticate(sql: Sql, token: string): Promise<AuthenticatedCaller | undefined> {
  if (!isToken(token)) return undefined;
  const tokenHash = hashToken(token);
  // The look-up is by the hash of what the caller sent: its timing says nothing about any other token.
  const found = await findCredential(sql, tokenHash);
  if (!found || !timingSafeEqual(found.tokenHash, tokenHash)) return undefined;
  if (!receives(found)) return undefined;
  // Who has lost the role has lost the credential.
  if (found.kind === 'operator' && !found.roles.includes('operator')) return undefined;
  return callerOf(found);
}

/** The brand constructor: only a token that holds leads here. */
function callerOf(found: FoundCredential): AuthenticatedCaller {
  const { kind, tenant, home, address, principalId, roles, source } = found;
  const caller: Caller = { kind, credentialId: found.id, tenant, home, address, principalId, roles };
  return (source === null ? caller : { ...caller, source }) as AuthenticatedCaller;
}
