/** The genesis record of a principal: what its immutable id is made of. */

import { z } from 'zod';
import { canonicalize } from './canonical-json.js';
import { sha256, signingBytes, toBase64url, toUtf8 } from './encoding.js';
import type { PrincipalId } from './identifier.js';
import { addressSchema, digestSchema } from './wire-schema.js';

export const genesisRecordSchema = z.strictObject({
  /** The address at birth; later ones may differ, the id stays. */
  address: addressSchema,
  first_key: z.strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string().length(43) }),
  /** Digest of the recovery key's raw public bytes; the key itself is shown once and kept by its owner. */
  recovery_key_hash: digestSchema,
  /** Base64url of 16 random bytes or more. */
  salt: z.string().regex(/^[A-Za-z0-9_-]{22,86}$/),
});

export type GenesisRecord = z.infer<typeof genesisRecordSchema>;

/** `prn_` + base64url SHA-256 over the prefixed canonical record. */
export function principalIdOf(record: GenesisRecord): PrincipalId {
  const bytes = signingBytes('genesis', toUtf8(canonicalize(genesisRecordSchema.parse(record))));
  return `prn_${toBase64url(sha256(bytes))}` as PrincipalId;
}
