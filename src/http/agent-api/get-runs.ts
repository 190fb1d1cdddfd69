// GET /v1/runs?agent=&status=: the newest first, of the agents that the caller may see.
import { z } from 'zod';
import { listRuns, runStatuses } from '../../foundation/index.js';
import { type AuthenticatedCaller, listAgentHomes, principalByAddress, principalByHome } from '../../home/index.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { decodeCursor, pageOf, pageQuery } from '../page.js';
import { type Access, requireAgent } from './access.js';
import { runView } from './run-view.js';

const query = pageQuery.extend({ agent: z.string().max(255).optional(), status: z.enum(runStatuses).optional() });
const ownAgents = 1_000;

export function getRuns(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/runs',
    takes: { query },
    async handle(ctx) {
      const caller = callerOf(ctx);
      const { agent, status, limit, cursor } = queryOf(ctx, query);
      const homes = await readableHomes(access, caller, agent);
      const after = decodeCursor(cursor);
      const found = await listRuns(access.db.sql, {
        caller: { tenant: caller.tenant, homes },
        limit: limit + 1,
        ...(status === undefined ? {} : { status }),
        ...(after === undefined ? {} : { after }),
      });
      const page = pageOf(found, limit, (run) => run.id);
      const agents = await addressesOf(
        access,
        page.items.map((run) => run.home),
      );
      ctx.body = { ...page, items: page.items.map((run) => runView(run, agents.get(run.home) ?? '')) };
    },
  };
}

async function readableHomes(
  access: Access,
  caller: AuthenticatedCaller,
  agent: string | undefined,
): Promise<string[] | 'all'> {
  if (agent !== undefined) return [(await requireAgent(access, caller, agent)).principal.home];
  if (caller.kind === 'operator') return 'all';
  if (caller.kind === 'producer') return [];
  const own = await listAgentHomes(access.db.sql, { tenant: caller.tenant, owner: caller.address, limit: ownAgents });
  const principals = await Promise.all(own.map((record) => principalByAddress(access.db.sql, record.agent_id)));
  return principals.flatMap((principal) => principal?.home ?? []);
}

async function addressesOf(access: Access, homes: readonly string[]): Promise<Map<string, string>> {
  const principals = await Promise.all([...new Set(homes)].map((home) => principalByHome(access.db.sql, home)));
  return new Map(principals.flatMap((principal) => (principal ? [[principal.home, principal.address]] : [])));
}
