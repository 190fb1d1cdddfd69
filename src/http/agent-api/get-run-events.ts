// GET /v1/runs/{id}/events?after=: a page of a run's events, or all of them live for who accepts an event stream (F11).
import { readRunEvents } from '../../foundation/index.js';
import { Problem } from '../../protocol/index.js';
import type { Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { listOf, logQuery, numberAt, refuseCursor } from '../page.js';
import type { Access } from './access.js';
import { requireRun } from './require-run.js';
import { type RunStreams, runEventView } from './stream-run-events.js';

export function getRunEvents(deps: Access & { streams: RunStreams }): Endpoint {
  return {
    method: 'GET',
    path: '/v1/runs/:id/events',
    takes: { query: logQuery },
    async handle(ctx) {
      const asked = queryOf(ctx, logQuery);
      const { run } = await requireRun(deps, ctx);
      const streamed = ctx.accepts('application/json', 'text/event-stream') === 'text/event-stream';
      // What a client that reconnects has seen says more than the URL it first asked with.
      const seen = streamed ? ctx.get('Last-Event-ID') : '';
      const list = listOf(ctx, seen === '' ? asked : { ...asked, after: seen });
      const after = numberAt(list.from) ?? 0;
      const page = await readRunEvents(deps.db.sql, run.id, { after, limit: list.limit });
      switch (page.kind) {
        case 'not_found':
          throw new Problem('not_found', 'there is no such run');
        case 'cursor_ahead':
          return refuseCursor(list, { kind: 'ahead' });
        case 'cursor_gap':
          return refuseCursor(list, { kind: 'gap', oldest: [page.oldest] });
        case 'page':
          if (streamed)
            return deps.streams.open(ctx, { runId: run.id, after, cursorAt: (seq) => list.cursorAt([seq]) });
          ctx.body = { items: page.events.map(runEventView), cursor: list.cursorAt([page.cursor]), ended: page.ended };
      }
    },
  };
}
