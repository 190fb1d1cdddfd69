// Key custody in this process: keys rest in the database, sealed under one key encryption key that the operator holds.
import type { KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Random } from '../../platform/index.js';
import {
  generateKeyPair,
  keyPairFromSeed,
  type PublicJwk,
  seedOf,
  sha256,
  signWith,
  thumbprint,
  toBase64url,
} from '../../protocol/index.js';
import type { KeyCustody } from './key-custody.js';
import { seal, unseal } from './sealed-box.js';

// Opening costs a decryption and a key import; a busy agent signs often.
const openedKeys = 1_000;

export function sealedKeyCustody(kek: Uint8Array, random: Random): KeyCustody {
  const opened = new LRUCache<string, KeyObject>({ max: openedKeys });

  return {
    keyEncryptionKeyId: keyEncryptionKeyIdOf(kek),
    async generate() {
      const { privateKey, publicKey } = generateKeyPair();
      const seed = seedOf(privateKey);
      const sealedPrivateKey = seal(kek, keyPurpose(publicKey.jwk), { secret: seed, random });
      seed.fill(0);
      return { publicJwk: publicKey.jwk, sealedPrivateKey };
    },
    async sign(key, bytes) {
      const known = opened.get(key.publicJwk.x);
      if (known) return signWith(known, bytes);
      const seed = unseal(kek, keyPurpose(key.publicJwk), key.sealedPrivateKey);
      const { privateKey } = keyPairFromSeed(seed);
      seed.fill(0);
      opened.set(key.publicJwk.x, privateKey);
      return signWith(privateKey, bytes);
    },
    sealSecret: (label, secret) => seal(kek, secretPurpose(label), { secret, random }),
    openSecret: (label, sealed) => unseal(kek, secretPurpose(label), sealed),
  };
}

/** Tells one key encryption key from another; says nothing about the key, which has 256 random bits. */
function keyEncryptionKeyIdOf(kek: Uint8Array): string {
  const named = Buffer.concat([Buffer.from('hearth key encryption key id\n', 'utf8'), kek]);
  return `kek_${toBase64url(sha256(named)).slice(0, 22)}`;
}

// The public half is part of the purpose: a sealed key that is moved to another row does not open there.
function keyPurpose(jwk: PublicJwk): string {
  return `hearth private key ${thumbprint(jwk)}`;
}

function secretPurpose(label: string): string {
  return `hearth secret ${label}`;
}
