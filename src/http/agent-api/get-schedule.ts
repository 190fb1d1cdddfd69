// GET /v1/schedules/{id}
import type { Endpoint } from '../endpoint.js';
import type { Access } from './access.js';
import { requireSchedule } from './require-schedule.js';
import { scheduleView } from './schedule-view.js';

export function getSchedule(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/schedules/:id',
    async handle(ctx) {
      const { schedule, principal } = await requireSchedule(access, ctx);
      ctx.body = scheduleView(schedule, principal.address);
    },
  };
}
