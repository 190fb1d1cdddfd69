// Agent key certificates: the domain says now that a key is this principal's. Cheap to ask for at each delivery attempt.
import { LRUCache } from 'lru-cache';
import type { Clock, Database } from '../../platform/index.js';
import { LIMITS, Problem, parseKeyRef, sealAgentKeyCertificate } from '../../protocol/index.js';
import { type DomainRecord, type DomainSigner, domainSigner } from '../domain/index.js';
import type { KeyCustody } from '../key-custody/index.js';
import type { Principal, PrincipalKey } from './principal.js';
import { currentPrincipalKeys } from './store.js';

type Certified = Pick<Principal, 'home' | 'address' | 'principalId'>;

export interface Certifier {
  /** A certificate of the principal's current key, at most ten minutes old; undefined when no key of it holds. */
  agentKeyCertificate(principal: Certified): Promise<string | undefined>;
  /** The same for many at once, by home; who has no key that holds is missing. */
  agentKeyCertificates(principals: readonly Certified[]): Promise<ReadonlyMap<string, string>>;
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

  async function certify(
    { address, principalId }: Certified,
    key: PrincipalKey,
    signer: DomainSigner,
  ): Promise<string> {
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
  }

  async function agentKeyCertificates(principals: readonly Certified[]): Promise<ReadonlyMap<string, string>> {
    // All keys are read each time, so a revocation counts at once, in every process.
    const keys = await currentPrincipalKeys(
      db.sql,
      principals.map(({ home }) => home),
    );
    const tokens = new Map<string, string>();
    if (keys.length === 0) return tokens;
    const signer = await domainSigner(db.sql, custody, domain);
    for (const key of keys) {
      const principal = principals.find(({ home }) => home === key.home);
      if (principal) tokens.set(key.home, await certify(principal, key, signer));
    }
    return tokens;
  }

  return {
    agentKeyCertificates,
    agentKeyCertificate: async (principal) => (await agentKeyCertificates([principal])).get(principal.home),
  };
}
