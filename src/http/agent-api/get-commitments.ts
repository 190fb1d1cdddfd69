// GET /v1/commitments: those last changed first, the caller's own or those of an agent that it may see.
import { z } from 'zod';
import { listCommitmentRows } from '../../federation/index.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { listOf, numberAt, pageOf, pageQuery, textAt } from '../page.js';
import { type Access, readableHome } from './access.js';
import { commitmentView } from './commitment-view.js';

const query = pageQuery.extend({ agent: z.string().max(255).optional() });

export function getCommitments(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/commitments',
    takes: { query },
    async handle(ctx) {
      const asked = queryOf(ctx, query);
      const home = await readableHome(access, callerOf(ctx), asked.agent);
      const list = listOf(ctx, asked);
      const after = list.from && { updatedUs: numberAt(list.from) ?? 0, commitmentId: textAt(list.from, 1) ?? '' };
      const rows = await listCommitmentRows(access.db.sql, { home, after, limit: list.limit + 1 });
      const page = pageOf(list, rows, (row) => [row.updatedUs, row.commitmentId]);
      ctx.body = { ...page, items: page.items.map(commitmentView) };
    },
  };
}
