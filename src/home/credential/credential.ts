// Bearer credentials: a random token, told once and kept as its hash, scoped to one tenant, principal and (producers) source.
import type { Random } from '../../platform/index.js';
import {
  type Address,
  fromBase64url,
  type HomeTag,
  type PrincipalId,
  sha256,
  toBase64url,
  toUtf8,
} from '../../protocol/index.js';
import type { Principal, Role } from '../principal/index.js';

export const credentialKinds = ['producer', 'person', 'operator'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

export interface Credential {
  id: string;
  kind: CredentialKind;
  home: HomeTag;
  tenant: string;
  source: string | null;
  label: string;
  expiresAt: Date | null;
  revokedAt: Date | null;
  createdAt: Date;
}

export interface Caller {
  readonly kind: CredentialKind;
  readonly credentialId: string;
  readonly tenant: string;
  readonly home: HomeTag;
  readonly address: Address;
  readonly principalId: PrincipalId;
  readonly roles: readonly Role[];
  /** Producers only: what every input of theirs comes from. */
  readonly source?: string;
}

declare const authenticated: unique symbol;

/** Who calls, as proved by a token. Only `authenticate` makes one. */
export type AuthenticatedCaller = Caller & { readonly [authenticated]: true };

const tokenBytes = 32;
const tokenShape = /^hearth_(producer|person|operator)_([A-Za-z0-9_-]{43})$/;

export function newToken(kind: CredentialKind, random: Random): string {
  return `hearth_${kind}_${toBase64url(random.bytes(tokenBytes))}`;
}

/** The only form in which a token is kept. Its 256 random bits need no salt and no slow hash. */
export function hashToken(token: string): Uint8Array {
  return sha256(toUtf8(token));
}

/** Sorts out what cannot be a token before the database is asked. */
export function isToken(text: string): boolean {
  const match = tokenShape.exec(text);
  return match !== null && fromBase64url(match[2] ?? '') !== undefined;
}

/** Why a principal may not have a credential of this kind; undefined when it may. */
export function unfitFor(kind: CredentialKind, principal: Principal): string | undefined {
  switch (kind) {
    case 'producer':
      return principal.kind === 'service' ? undefined : 'a producer is a service';
    case 'person':
      return principal.kind === 'human' ? undefined : 'a person is a human';
    case 'operator':
      return principal.kind === 'human' && principal.roles.includes('operator')
        ? undefined
        : 'an operator is a human with the operator role';
  }
}
