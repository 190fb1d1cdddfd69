// GET /v1/whoami: what the credential in hand proves.
import type { Domain } from '../../protocol/index.js';
import { callerOf, type Endpoint } from '../endpoint.js';

export function getWhoami({ domain }: { domain: { name: Domain } }): Endpoint {
  return {
    method: 'GET',
    path: '/v1/whoami',
    handle(ctx) {
      const { kind, address, principalId, home, tenant, roles, source } = callerOf(ctx);
      ctx.body = { kind, address, principal_id: principalId, home, tenant, roles, source, domain: domain.name };
    },
  };
}
