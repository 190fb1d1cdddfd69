// GET /v1/commitments: those last changed first, the caller's own or those of an agent that it may see.
import { z } from 'zod';
import { listCommitmentRows } from '../../federation/index.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { pageLimit } from '../page.js';
import { type Access, readableHome } from './access.js';
import { commitmentView } from './commitment-view.js';

const query = z.strictObject({ agent: z.string().max(255).optional(), limit: pageLimit });

export function getCommitments(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/commitments',
    async handle(ctx) {
      const { agent, limit } = queryOf(ctx, query);
      const home = await readableHome(access, callerOf(ctx), agent);
      const rows = await listCommitmentRows(access.db.sql, { home, limit });
      ctx.body = { items: rows.map(commitmentView), next_cursor: null };
    },
  };
}
