// A schedule that the caller may see; another's looks like none (BR-68).
import { type ScheduleRecord, selectSchedule } from '../../foundation/index.js';
import type { Principal } from '../../home/index.js';
import { Problem } from '../../protocol/index.js';
import { callerOf, type DoorContext, param } from '../endpoint.js';
import { type Access, findAgentOf } from './access.js';

export async function requireSchedule(
  access: Access,
  ctx: DoorContext,
): Promise<{ schedule: ScheduleRecord; principal: Principal }> {
  const id = param(ctx, 'id');
  const agent = await findAgentOf(access, callerOf(ctx), id);
  const schedule = agent && (await selectSchedule(access.db.sql, agent.principal.home, id));
  if (!schedule) throw new Problem('not_found', 'there is no such schedule');
  return { schedule, principal: agent.principal };
}
