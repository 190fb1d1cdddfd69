/**
 * The agent key certificate: the domain says now that this key was this principal's in this interval. Every delivery
 * attempt carries a fresh one, so a receiver needs only the domain's bundle. Humans and services are certified the same way.
 */

import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type Address, type Domain, type KeyRef, parseAddress, parseKeyRef } from './address.js';
import { type DomainBundle, isRevoked, keyAt } from './domain-bundle.js';
import { type PublicJwk, type PublicKey, readPublicKey, type Sign } from './ed25519.js';
import { fromNumericDate, toNumericDate } from './encoding.js';
import type { PrincipalId } from './identifier.js';
import { assembleJws, proveJws, readJws, type UnverifiedJws } from './jws.js';
import { LIMITS } from './limits.js';
import { type Refusal, refuse } from './problem.js';
import {
  addressSchema,
  domainSchema,
  keyRefSchema,
  numericDateSchema,
  principalIdSchema,
  readAs,
} from './wire-schema.js';

export const certificateClaimsSchema = z.object({
  iss: domainSchema,
  sub: addressSchema,
  principal_id: principalIdSchema,
  kid: keyRefSchema,
  cnf: z.object({
    jwk: z.object({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      x: z.string().length(43),
      // KEYS-4: a private key in the certificate is refused, not passed over.
      d: z.never().optional(),
    }),
  }),
  key_nbf: numericDateSchema,
  key_exp: numericDateSchema,
  iat: numericDateSchema,
  exp: numericDateSchema,
});

type Claims = z.infer<typeof certificateClaimsSchema>;

export type CertificateDraft = {
  readonly domain: Domain;
  readonly address: Address;
  readonly principalId: PrincipalId;
  readonly keyRef: KeyRef;
  readonly jwk: PublicJwk;
  readonly keyNbf: Date;
  readonly keyExp: Date;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
};

const proof = Symbol('VerifiedAgentKey');

/** A principal's key, vouched for by its domain. */
export type VerifiedAgentKey = {
  readonly ok: true;
  readonly domain: Domain;
  readonly address: Address;
  readonly principalId: PrincipalId;
  readonly keyRef: KeyRef;
  readonly publicKey: PublicKey;
  readonly keyNbf: Date;
  readonly keyExp: Date;
  readonly [proof]: 'agent key';
};

export type VerifyCertificateOptions = { readonly bundle: DomainBundle; readonly now: Date };

/** Seals a certificate with the domain key `kid`. */
export function sealAgentKeyCertificate(draft: CertificateDraft, kid: string, sign: Sign): Promise<string> {
  const claims: Claims = {
    iss: draft.domain,
    sub: draft.address,
    principal_id: draft.principalId,
    kid: draft.keyRef,
    cnf: { jwk: { kty: draft.jwk.kty, crv: draft.jwk.crv, x: draft.jwk.x } },
    key_nbf: toNumericDate(draft.keyNbf),
    key_exp: toNumericDate(draft.keyExp),
    iat: toNumericDate(draft.issuedAt),
    exp: toNumericDate(draft.expiresAt),
  };
  return assembleJws({ typ: 'agent-key+jwt', kid, payload: claims }, sign);
}

/** What a certificate says, and the domain key that is proved to have signed it. */
interface ReadCertificate {
  claims: Claims;
  read: UnverifiedJws;
  provenBy?: PublicKey;
}

/** Every transaction of a sender carries its certificate again. Only proved ones are kept: times and revocation change, these facts do not. */
const known = new LRUCache<string, ReadCertificate>({ max: 2_000 });

function readCertificate(token: string): (ReadCertificate & { ok: true }) | Refusal<'certificate_invalid'> {
  const before = known.get(token);
  if (before) return { ok: true, ...before };
  const read = readJws(token, LIMITS.certificateBytes);
  if (!read.ok) return refuse('certificate_invalid', read.detail);
  const claims = readAs(certificateClaimsSchema, read.payload, 'certificate_invalid');
  return claims.ok ? { ok: true, claims: claims.value, read } : claims;
}

/** The key reference that a certificate speaks of, unverified: only to find the certificate for an envelope. */
export function subjectKeyOf(token: string): KeyRef | undefined {
  const certificate = readCertificate(token);
  return certificate.ok ? certificate.claims.kid : undefined;
}

/** Verifies a certificate against the bundle of the domain it must come from. */
export async function verifyAgentKeyCertificate(
  token: string,
  { bundle, now }: VerifyCertificateOptions,
): Promise<VerifiedAgentKey | Refusal<'certificate_invalid'>> {
  const certificate = readCertificate(token);
  if (!certificate.ok) return certificate;
  const { claims, read } = certificate;
  const fault = faultOf(claims, bundle, now);
  if (fault) return refuse('certificate_invalid', fault);
  const signer = keyAt(bundle, read.kid, fromNumericDate(claims.iat));
  if (!signer.ok) return refuse('certificate_invalid', signer.detail);
  if (certificate.provenBy !== signer.key) {
    const verified = await proveJws(read, { typ: 'agent-key+jwt', keys: () => signer.key });
    if (!verified.ok) return refuse('certificate_invalid', verified.detail);
    known.set(token, { claims, read, provenBy: signer.key });
  }
  const key = readPublicKey(claims.cnf.jwk);
  if (!key.ok) return refuse('certificate_invalid', key.detail);
  return {
    ok: true,
    domain: claims.iss,
    address: claims.sub,
    principalId: claims.principal_id,
    keyRef: claims.kid,
    publicKey: key.key,
    keyNbf: fromNumericDate(claims.key_nbf),
    keyExp: fromNumericDate(claims.key_exp),
    [proof]: 'agent key',
  };
}

function faultOf(claims: Claims, bundle: DomainBundle, now: Date): string | undefined {
  if (claims.iss !== bundle.domain) return `issued by ${claims.iss}, not ${bundle.domain}`;
  if (parseAddress(claims.sub)?.domain !== bundle.domain) return `${claims.sub} is not of ${bundle.domain}`;
  const keyRef = parseKeyRef(claims.kid);
  if (keyRef === undefined || keyRef.owner === 'domain' || keyRef.address !== claims.sub) {
    return `${claims.kid} is not a key of ${claims.sub}`;
  }
  if (isRevoked(bundle, claims.kid) || isRevoked(bundle, claims.principal_id)) return `${claims.kid} is revoked`;
  const nowS = now.getTime() / 1000;
  if (claims.iat > nowS + LIMITS.clockSkewMs / 1000) return 'issued in the future';
  if (claims.exp <= nowS) return 'the certificate has expired';
  if (claims.exp <= claims.iat) return 'it expires before it is issued';
  if (claims.exp - claims.iat > LIMITS.certificateLifetimeMs / 1000) return 'valid for more than 24 hours';
  if (claims.key_exp <= claims.key_nbf) return 'the key interval is empty';
  return undefined;
}
