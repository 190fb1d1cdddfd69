// GET /v1/inputs/{id}: what became of an input, one disposition per candidate (F3).
import { type Reader, readInput } from '../../foundation/index.js';
import type { AuthenticatedCaller } from '../../home/index.js';
import { Problem } from '../../protocol/index.js';
import { callerOf, type Endpoint, param } from '../endpoint.js';
import { type Access, findAgentOf } from './access.js';
import { dispositionViews, inputView } from './input-view.js';

export function getInput(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/inputs/:id',
    async handle(ctx) {
      const id = param(ctx, 'id');
      const view = await readInput(access.db.sql, id, { caller: await inputReader(access, callerOf(ctx), id) });
      if (!view) throw new Problem('not_found', 'there is no such input');
      ctx.body = { ...inputView(view), disposition: await dispositionViews(access, view.dispositions) };
    },
  };
}

/** What came through its own mailbox, and through that of an agent that it may see. */
export async function inputReader(access: Access, caller: AuthenticatedCaller, id: string): Promise<Reader> {
  if (caller.kind === 'operator') return { tenant: caller.tenant, homes: 'all' };
  const agent = await findAgentOf(access, caller, id);
  return { tenant: caller.tenant, homes: [caller.home, ...(agent ? [agent.principal.home] : [])] };
}
