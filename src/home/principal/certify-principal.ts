// Agent key certificates: the domain says now that a key is this principal's. Cheap to ask for at each delivery attempt.
import { LRUCache } from 'lru-cache';
import type { Clock, Database } from '../../platform/index.js';
import { LIMITS, Problem, parseKeyRef, sealAgentKeyCertificate } from '../../protocol/index.js';
import { type DomainRecord, domainSigner } from '../domain/index.js';
import type { KeyCustody } from '../key-custody/index.js';
import type { Principal } from './principal.js';
import { currentPrincipalKey } from './store.js';

export interface Certifier {
  /** A certificate of the principal's current key, at most ten minutes old; undefined when no key of it holds. */
  agentKeyCertificate(principal: Pick<Principal, 'home' | 'address' | 'principalId'>): Promise<string | undefined>;
}

const mostCached = 1_000;
const reusedForMs = 10 * 60 * 1_000;

export function principalCertifier(parts: {
  db: Database;
  custody: KeyCustody;
  domain: DomainRecord;
  clock: Clock;
}): Certifier {
  const { db, custody, domain, clock } = parts;
  const issued = new LRUCache<string, { token: string; issuedAtMs: number }>({ max: mostCached });

  return {
    async agentKeyCertificate({ home, address, principalId }) {
      // Both keys are read each time, so a revocation counts at once, in every process.
      const key = await currentPrincipalKey(db.sql, home);
      if (!key) return undefined;
      const signer = await domainSigner(db.sql, custody, domain);
      const cacheKey = `${key.keyRef} ${signer.kid}`;
      const known = issued.get(cacheKey);
      if (known && clock.monotonicMs() - known.issuedAtMs < reusedForMs) return known.token;
      const keyRef = parseKeyRef(key.keyRef)?.keyRef;
      if (!keyRef) throw new Problem('internal', `the key of ${address} has no readable reference`);
      const issuedAt = clock.now();
      const issuedAtMs = clock.monotonicMs();
      const draft = {
        domain: domain.name,
        address,
        principalId,
        keyRef,
        jwk: key.publicJwk,
        keyNbf: key.notBefore,
        keyExp: key.expiresAt,
        issuedAt,
        expiresAt: new Date(issuedAt.getTime() + LIMITS.certificateLifetimeMs),
      };
      const token = await sealAgentKeyCertificate(draft, signer.kid, signer.sign);
      issued.set(cacheKey, { token, issuedAtMs });
      return token;
    },
  };
}
