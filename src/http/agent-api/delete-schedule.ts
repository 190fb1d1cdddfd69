// DELETE /v1/schedules/{id}: no slot of it comes any more.
import { appendAudit, cancelSchedule } from '../../foundation/index.js';
import { Problem } from '../../protocol/index.js';
import type { Endpoint } from '../endpoint.js';
import { requirePerson } from '../middleware/authenticate.js';
import type { Access } from './access.js';
import { requireSchedule } from './require-schedule.js';

export function deleteSchedule(access: Access): Endpoint {
  return {
    method: 'DELETE',
    path: '/v1/schedules/:id',
    async handle(ctx) {
      const caller = requirePerson(ctx);
      const { schedule } = await requireSchedule(access, ctx);
      const { home, id } = schedule;
      const cancelled = await access.db.transact('cancel-schedule', async (tx) => {
        const cancelled = await cancelSchedule(tx, { home, id });
        const audit = { home, actor: caller.address, action: 'schedule.cancel', object: id, outcome: 'cancelled' };
        if (cancelled) await appendAudit(tx, audit);
        return cancelled;
      });
      if (!cancelled) throw new Problem('conflict', `the schedule is ${schedule.status} already`);
      ctx.status = 204;
    },
  };
}
