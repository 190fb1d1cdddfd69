// GET /federation/v1/commitments/{id}/transitions?after=: a participant's domain reads our log, each entry provable alone.
import { z } from 'zod';
import { type Gateway, readTransitionLog } from '../../federation/index.js';
import { type Endpoint, param } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { position } from '../page.js';
import { doorRequestOf } from './door-request.js';

const query = z.strictObject({ after: position.default(0) });

export function getTransitions(gateway: Gateway): Endpoint {
  return {
    method: 'GET',
    path: '/federation/v1/commitments/:id/transitions',
    takes: { query },
    async handle(ctx) {
      const { after } = queryOf(ctx, query);
      const asked = { commitmentId: param(ctx, 'id'), after };
      const log = await readTransitionLog(gateway, doorRequestOf(ctx, 'GET'), asked);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = log;
    },
  };
}
