// GET /v1/runs/{id}
import type { Endpoint } from '../endpoint.js';
import type { Access } from './access.js';
import { requireRun } from './require-run.js';
import { runView } from './run-view.js';

export function getRun(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/runs/:id',
    async handle(ctx) {
      const { run, agent } = await requireRun(access, ctx);
      ctx.body = runView(run, agent);
    },
  };
}
