// A run that the caller may see; another's looks like none (BR-68).
import { type RunView, readRun } from '../../foundation/index.js';
import { Problem } from '../../protocol/index.js';
import { callerOf, type DoorContext, param } from '../endpoint.js';
import { type Access, findAgentOf } from './access.js';

export async function requireRun(access: Access, ctx: DoorContext): Promise<{ run: RunView; agent: string }> {
  const id = param(ctx, 'id');
  const agent = await findAgentOf(access, callerOf(ctx), id);
  const reader = agent && { tenant: agent.principal.tenant, homes: [agent.principal.home] };
  const run = reader && (await readRun(access.db.sql, id, { caller: reader }));
  if (!agent || !run) throw new Problem('not_found', 'there is no such run');
  return { run, agent: agent.principal.address };
}
