// GitHub's proof of a webhook: HMAC SHA-256 over the exact bytes of the body, in X-Hub-Signature-256.
import { createHmac, timingSafeEqual } from 'node:crypto';

const signatureHeader = /^sha256=([0-9a-f]{64})$/;

/** True when the header is the body's HMAC under the secret. The time taken does not depend on where they differ. */
export function verifyGithubSignature(secret: Uint8Array, body: Uint8Array, header: string): boolean {
  const expected = createHmac('sha256', secret).update(body).digest();
  const claimed = Buffer.from(signatureHeader.exec(header)?.[1] ?? '', 'hex');
  // A malformed header is compared too, against itself, so that it takes as long as a wrong one.
  const wellFormed = claimed.length === expected.length;
  return timingSafeEqual(expected, wellFormed ? claimed : Buffer.alloc(expected.length)) && wellFormed;
}
