// Sealing under the key encryption key: AES-256-GCM, with what the secret belongs to as associated data.
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from '../../platform/index.js';

const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;

/** version (1) · nonce (12) · tag (16) · ciphertext. `purpose` must be the same again to open it. */
export function seal(key: Uint8Array, purpose: string, input: { secret: Uint8Array; random: Random }): Uint8Array {
  const nonce = input.random.bytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(purpose, 'utf8'));
  const ciphertext = Buffer.concat([cipher.update(input.secret), cipher.final()]);
  return new Uint8Array(Buffer.concat([Buffer.from([version]), nonce, cipher.getAuthTag(), ciphertext]));
}

/** Throws when the key, the purpose or one bit of the box is another. */
export function unseal(key: Uint8Array, purpose: string, sealed: Uint8Array): Uint8Array {
  if (sealed.byteLength < headBytes || sealed[0] !== version) throw new Error(`not a sealed box: ${purpose}`);
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(purpose, 'utf8'));
  decipher.setAuthTag(sealed.subarray(1 + nonceBytes, headBytes));
  try {
    return new Uint8Array(Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]));
  } catch (cause) {
    throw new Error(`a sealed box does not open: ${purpose}`, { cause });
  }
}
