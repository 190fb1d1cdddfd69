// GET /v1/commitments/{id}: with the assessment that holds now, which may be overdue since the last transition.
import { z } from 'zod';
import { readCommitment } from '../../federation/index.js';
import type { Clock } from '../../platform/index.js';
import { Problem } from '../../protocol/index.js';
import { callerOf, type Endpoint, param } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { type Access, readableHome } from './access.js';
import { commitmentView, transitionView } from './commitment-view.js';

const query = z.strictObject({ agent: z.string().max(255).optional() });

export function getCommitment(deps: Access & { clock: Clock }): Endpoint {
  return {
    method: 'GET',
    path: '/v1/commitments/:id',
    takes: { query },
    async handle(ctx) {
      const home = await readableHome(deps, callerOf(ctx), queryOf(ctx, query).agent);
      const key = { home, commitmentId: param(ctx, 'id'), now: deps.clock.now() };
      const found = await readCommitment(deps.db.sql, key);
      if (!found) throw new Problem('not_found', 'there is no such commitment');
      ctx.body = {
        ...commitmentView(found.row),
        local_assessment: found.view.state,
        transitions: found.transitions.map(transitionView),
      };
    },
  };
}
