// POST /v1/schedules: sets a time for an agent; under a key, setting it again changes the one that stands.
import { z } from 'zod';
import { addSchedule, appendAudit, foundationChannels, scheduleShape } from '../../foundation/index.js';
import type { Clock, Random, Wakeups } from '../../platform/index.js';
import type { Endpoint } from '../endpoint.js';
import { requirePerson } from '../middleware/authenticate.js';
import { jsonBody } from '../middleware/body.js';
import { type Access, requireAgent } from './access.js';
import { scheduleView } from './schedule-view.js';

const shape = scheduleShape.extend({ agent: z.string().max(255) });

export function postSchedule(deps: Access & { clock: Clock; random: Random; wakeups: Wakeups }): Endpoint {
  return {
    method: 'POST',
    path: '/v1/schedules',
    takes: { body: shape },
    async handle(ctx) {
      const caller = requirePerson(ctx);
      const { agent, ...draft } = await jsonBody(ctx, shape);
      const { principal } = await requireAgent(deps, caller, agent);
      const { home, tenant, address } = principal;
      const ids = { now: deps.clock.now(), random: (count: number) => deps.random.bytes(count) };
      const schedule = await deps.db.transact('add-schedule', async (tx) => {
        const added = await addSchedule(tx, {
          draft,
          home,
          tenant,
          agent: address,
          owner: caller.address,
          trustClass: 'instruction',
          ids,
        });
        const { id } = added;
        await appendAudit(tx, { home, actor: caller.address, action: 'schedule.set', object: id, outcome: 'active' });
        return added;
      });
      deps.wakeups.wake(foundationChannels.schedules);
      ctx.status = 201;
      ctx.body = scheduleView(schedule, address);
    },
  };
}
