// GET /.well-known/agent-federation: where this domain's gateway is and what it takes.
import { DISCOVERY_PATH, type DiscoveryFacts, describeDomain } from '../../protocol/index.js';
import type { Endpoint } from '../endpoint.js';

export function getDiscovery(facts: DiscoveryFacts): Endpoint {
  const document = describeDomain(facts);
  return {
    method: 'GET',
    path: DISCOVERY_PATH,
    handle(ctx) {
      ctx.set('Cache-Control', 'public, max-age=300');
      ctx.body = document;
    },
  };
}
