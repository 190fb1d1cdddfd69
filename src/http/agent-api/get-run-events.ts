// GET /v1/runs/{id}/events?after=: a page of a run's events, or all of them live for who accepts an event stream.
import { z } from 'zod';
import { readRunEvents } from '../../foundation/index.js';
import { Problem } from '../../protocol/index.js';
import type { DoorContext, Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { pageLimit, position } from '../page.js';
import type { Access } from './access.js';
import { requireRun } from './require-run.js';
import { type RunStreams, runEventView } from './stream-run-events.js';

const query = z.strictObject({ after: position.default(0), limit: pageLimit });

export function getRunEvents(deps: Access & { streams: RunStreams }): Endpoint {
  return {
    method: 'GET',
    path: '/v1/runs/:id/events',
    takes: { query },
    async handle(ctx) {
      const { after, limit } = queryOf(ctx, query);
      const { run } = await requireRun(deps, ctx);
      const streamed = ctx.accepts('application/json', 'text/event-stream') === 'text/event-stream';
      const from = streamed ? (lastEventId(ctx) ?? after) : after;
      const page = await readRunEvents(deps.db.sql, run.id, { after: from, limit });
      switch (page.kind) {
        case 'not_found':
          throw new Problem('not_found', 'there is no such run');
        case 'cursor_ahead':
          throw new Problem('cursor_ahead', `the last event is ${page.last}`, { extra: { last: page.last } });
        case 'cursor_gone':
          throw new Problem('cursor_gone', `the first event kept is ${page.first}`, { extra: { first: page.first } });
        case 'page':
          if (streamed) deps.streams.open(ctx, { runId: run.id, after: from });
          else ctx.body = { items: page.events.map(runEventView), cursor: page.cursor, ended: page.ended };
      }
    },
  };
}

/** What a client that reconnects has seen; it says more than the URL it first asked with. */
function lastEventId(ctx: DoorContext): number | undefined {
  const parsed = position.safeParse(ctx.get('Last-Event-ID'));
  return parsed.success ? parsed.data : undefined;
}
