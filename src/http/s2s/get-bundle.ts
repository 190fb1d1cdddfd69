// GET /federation/v1/bundle: the keys that speak for this domain, signed by each of them.
import type { Endpoint } from '../endpoint.js';

export function getBundle(currentBundle: () => Promise<{ token: string }>): Endpoint {
  return {
    method: 'GET',
    path: '/federation/v1/bundle',
    async handle(ctx) {
      const { token } = await currentBundle();
      ctx.set('Cache-Control', 'public, max-age=60');
      ctx.type = 'application/jose+json';
      ctx.body = token;
    },
  };
}
