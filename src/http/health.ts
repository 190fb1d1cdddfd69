// GET /healthz on both doors: alive, and the database answers.
import type { Endpoint } from './endpoint.js';

export interface Health {
  domain: string;
  state(): 'starting' | 'ok' | 'draining';
  databaseAnswers(): Promise<boolean>;
}

export function getHealth(health: Health): Endpoint {
  return {
    method: 'GET',
    path: '/healthz',
    async handle(ctx) {
      const up = await health.databaseAnswers();
      const state = health.state();
      ctx.status = up && state === 'ok' ? 200 : 503;
      ctx.body = { status: up ? state : 'down', database: up ? 'ok' : 'down', domain: health.domain };
      ctx.set('Cache-Control', 'no-store');
    },
  };
}
