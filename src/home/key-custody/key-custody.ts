// The port of key custody: private keys come in by being generated here and leave only as signatures.
import type { PublicJwk } from '../../protocol/index.js';

/** A key as the database keeps it: the private part sealed, useless without the key encryption key. */
export interface CustodyKey {
  publicJwk: PublicJwk;
  sealedPrivateKey: Uint8Array;
}

export interface KeyCustody {
  /** Names the key encryption key without telling it; stored with the domain, so that a wrong one is noticed. */
  readonly keyEncryptionKeyId: string;
  generate(): Promise<CustodyKey>;
  /** Never call it inside a transaction: a custody may be a remote service. */
  sign(key: CustodyKey, bytes: Uint8Array): Promise<Uint8Array>;
  /** Seals a secret that must be read again, such as a webhook's; `label` binds it to its owner. */
  sealSecret(label: string, secret: Uint8Array): Uint8Array;
  openSecret(label: string, sealed: Uint8Array): Uint8Array;
}
