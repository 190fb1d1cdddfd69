// GET /v1/inputs/{id}/dispositions: everything that was decided on an input, however many it concerns (F3).
import { readDispositions } from '../../foundation/index.js';
import { Problem } from '../../protocol/index.js';
import { callerOf, type Endpoint, param } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { listOf, pageOf, pageQuery, textAt } from '../page.js';
import type { Access } from './access.js';
import { inputReader } from './get-input.js';
import { dispositionViews } from './input-view.js';

export function getDispositions(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/inputs/:id/dispositions',
    takes: { query: pageQuery },
    async handle(ctx) {
      const id = param(ctx, 'id');
      const caller = await inputReader(access, callerOf(ctx), id);
      const list = listOf(ctx, queryOf(ctx, pageQuery));
      const found = await readDispositions(access.db.sql, id, {
        caller,
        after: textAt(list.from),
        limit: list.limit + 1,
      });
      if (!found) throw new Problem('not_found', 'there is no such input');
      const page = pageOf(list, found, ({ candidateId }) => [candidateId]);
      ctx.body = { ...page, items: await dispositionViews(access, page.items) };
    },
  };
}
