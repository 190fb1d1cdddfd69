// GET /v1/inputs: what came through the mailboxes that the caller may see, the newest first, with what was decided on each.
import { z } from 'zod';
import { agentInputSchema, type Decision, isTypePattern, listInputs } from '../../foundation/index.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { listOf, timedQuery } from '../page.js';
import { rangeOf, timedPage, timeFilter, timesOf } from '../timed-list.js';
import { type Access, agentsReader, requireAgent } from './access.js';
import { dispositionViews, inputView } from './input-view.js';

const decisions = [
  'IGNORE',
  'PROJECT',
  'ACTIVATE',
  'ENQUEUE',
  'STEER',
  'INTERRUPT',
  'FORK',
  'RESUME',
] as const satisfies Decision[];

const query = timedQuery.extend({
  kind: agentInputSchema.shape.kind.optional(),
  type: z.string().max(130).refine(isTypePattern, 'neither a type nor a prefix that ends in .*').optional(),
  source: z.string().max(255).optional(),
  disposition: z.enum(decisions).optional(),
  /** Only what concerned this agent. */
  agent: z.string().max(255).optional(),
  ...timeFilter,
});

export function getInputs(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/inputs',
    takes: { query },
    async handle(ctx) {
      const asked = queryOf(ctx, query);
      const caller = callerOf(ctx);
      const concerned = asked.agent === undefined ? undefined : await requireAgent(access, caller, asked.agent);
      const reader = await agentsReader(access, caller, undefined);
      const homes = reader.homes === 'all' ? reader.homes : [caller.home, ...reader.homes];
      const list = listOf(ctx, asked);
      const { kind, type, source, disposition } = asked;
      const found = await listInputs(access.db.sql, {
        caller: { ...reader, homes },
        concerned: concerned?.principal.home,
        ...{ kind, type, source, disposition },
        ...timesOf(asked),
        range: rangeOf(list),
      });
      const page = timedPage(list, found);
      const shown = page.items.map(async (view) => ({
        ...inputView(view),
        disposition: await dispositionViews(access, view.dispositions),
      }));
      ctx.body = { ...page, items: await Promise.all(shown) };
    },
  };
}
