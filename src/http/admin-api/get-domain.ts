// GET /admin/v1/domain: what an operator tells another operator, and where the doors are.
import { currentBundle, type DomainRecord, domainFingerprint, type PrincipalGateway } from '../../home/index.js';
import { formatInstant } from '../../protocol/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';

export interface DoorUrls {
  /** The advertised gateway. */
  gateway: string;
  federation: string;
  api: string;
}

export type GetDomain = PrincipalGateway & { domain: DomainRecord; urls: () => DoorUrls };

export function getDomain(deps: GetDomain): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/domain',
    async handle(ctx) {
      requireOperator(ctx);
      const { domain, urls } = deps;
      const bundle = await currentBundle(deps);
      ctx.body = {
        domain: domain.name,
        fingerprint: await domainFingerprint(deps.db.sql),
        incarnation: domain.incarnation,
        gateway: urls().gateway,
        federation_url: urls().federation,
        api_url: urls().api,
        bundle_sequence: bundle.sequence,
        key_encryption_key_id: domain.keyEncryptionKeyId,
        created_at: formatInstant(domain.createdAt),
      };
    },
  };
}
