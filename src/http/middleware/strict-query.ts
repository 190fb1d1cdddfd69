// An endpoint that reads no query takes none: a filter that it does not know must not look as if it had been obeyed.
import { z } from 'zod';
import type { Endpoint } from '../endpoint.js';
import { queryOf } from './body.js';

const none = z.strictObject({});

export function strictQuery(endpoint: Endpoint): Endpoint {
  if (endpoint.takes?.query) return endpoint;
  return {
    ...endpoint,
    handle(ctx) {
      queryOf(ctx, none);
      return endpoint.handle(ctx);
    },
  };
}
