// The Federation Domain that this database belongs to: its name, its incarnation and the keys that speak for it.
import type { Domain, PublicJwk } from '../../protocol/index.js';

export interface DomainRecord {
  name: Domain;
  /** Signed into transactions and receipts; a restore from backup gets a new one, so that no id is used twice. */
  incarnation: string;
  tenantDefault: string;
  keyEncryptionKeyId: string;
  createdAt: Date;
}

/**
 * A domain key is *current* until it is retired; a retired key still verifies what was signed before, a revoked one
 * verifies nothing. Both states are final.
 */
export interface DomainKey {
  kid: string;
  publicJwk: PublicJwk;
  sealedPrivateKey: Uint8Array;
  notBefore: Date;
  expiresAt: Date;
  retiredAt: Date | null;
  revokedAt: Date | null;
  revokedReason: string | null;
}

/** Keys end by rotation or revocation; this end only bounds a key that everybody forgot. */
export const keyLifetimeDays = 3_650;
