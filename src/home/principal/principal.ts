/**
 * A principal of this domain: a human, an agent or a service (every outside source is one). Its id is made of its genesis
 * and never changes; its address is never given to another (D1).
 *
 * Life cycle, and what each state means for what belongs to the principal:
 *   created    known, not yet in use. Mailbox receives, nothing runs.            → active, ended, revoked
 *   active     mailbox receives, credentials hold, runs start.                   → paused, migrating, ended, revoked
 *   paused     mailbox receives, commitments stand, no new run starts.           → active, ended, revoked
 *   migrating  as paused, while the Home moves to another domain.                → active, ended
 *   ended      mailbox refuses, credentials and placement lapse; log and keys' history stay.   final
 *   revoked    as ended, and the keys are revoked: what they signed no longer verifies.        final
 */
import type { Address, HomeTag, PrincipalId, PrincipalKind, PublicJwk } from '../../protocol/index.js';

const principalStatuses = ['created', 'active', 'paused', 'migrating', 'revoked', 'ended'] as const;
export type PrincipalStatus = (typeof principalStatuses)[number];

export const visibilities = ['public', 'peers', 'hidden'] as const;
export type Visibility = (typeof visibilities)[number];

/** What a human may be beside itself. */
export const roles = ['operator'] as const;
export type Role = (typeof roles)[number];

export interface Principal {
  home: HomeTag;
  principalId: PrincipalId;
  address: Address;
  kind: PrincipalKind;
  tenant: string;
  displayName: string;
  roles: Role[];
  visibility: Visibility;
  status: PrincipalStatus;
  createdAt: Date;
}

export interface PrincipalKey {
  home: HomeTag;
  number: number;
  keyRef: string;
  publicJwk: PublicJwk;
  sealedPrivateKey: Uint8Array;
  notBefore: Date;
  expiresAt: Date;
  revokedAt: Date | null;
}

/** D1: the mailbox receives whether or not anything runs. */
export function receives(principal: Pick<Principal, 'status'>): boolean {
  return principal.status !== 'ended' && principal.status !== 'revoked';
}
