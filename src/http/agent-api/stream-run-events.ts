/**
 * A run's events as server-sent events: all after a cursor, then live ones, then `end` once the run is over. The cursor is
 * the event's id, so a cut connection resumes without a gap or a repeat (F11).
 */
import { Readable } from 'node:stream';
import { type RunEvent, readRunEvents, runChannel } from '../../foundation/index.js';
import { type Clock, linkedAbort, type Sql, type Wakeups } from '../../platform/index.js';
import { formatInstant, Problem } from '../../protocol/index.js';
import type { DoorContext } from '../endpoint.js';

export interface StreamRunEvents {
  sql: Sql;
  wakeups: Wakeups;
  clock: Clock;
  /** Ends every stream when the server drains; clients resume elsewhere or later. */
  closing: AbortSignal;
}

export interface RunStreams {
  /** Answers the request with a stream; refuses when there are too many. */
  open(ctx: DoorContext, from: { runId: string; after: number }): void;
}

const streamsAtOnce = 256;
const streamsPerCaller = 16;
const pageEvents = 200;
// Wakeups shorten the wait; looking again by itself is what makes it correct.
const pollMs = 1_000;
const heartbeatMs = 15_000;

export function runStreams(deps: StreamRunEvents): RunStreams {
  const openPerCaller = new Map<string, number>();
  let openStreams = 0;

  function enter(caller: string): () => void {
    const own = openPerCaller.get(caller) ?? 0;
    if (openStreams >= streamsAtOnce || own >= streamsPerCaller) {
      throw new Problem('rate_limited', 'too many event streams are open', { extra: { retry_after_s: 5 } });
    }
    openStreams += 1;
    openPerCaller.set(caller, own + 1);
    return () => {
      openStreams -= 1;
      const left = (openPerCaller.get(caller) ?? 1) - 1;
      if (left > 0) openPerCaller.set(caller, left);
      else openPerCaller.delete(caller);
    };
  }

  return {
    open(ctx, from) {
      const leave = enter(ctx.state.caller?.credentialId ?? '');
      const over = linkedAbort(deps.closing);
      ctx.res.once('close', () => {
        over.abort();
        over.release();
        leave();
      });
      ctx.set('Cache-Control', 'no-store');
      ctx.set('X-Accel-Buffering', 'no');
      ctx.type = 'text/event-stream';
      ctx.status = 200;
      ctx.body = Readable.from(frames(deps, { ...from, signal: over.signal }));
    },
  };
}

async function* frames(deps: StreamRunEvents, from: { runId: string; after: number; signal: AbortSignal }) {
  const watch = deps.wakeups.watch(runChannel(from.runId));
  let cursor = from.after;
  let lastFrame = deps.clock.monotonicMs();
  try {
    yield 'retry: 1000\n\n';
    while (!from.signal.aborted) {
      const page = await readRunEvents(deps.sql, from.runId, { after: cursor, limit: pageEvents });
      if (page.kind !== 'page') return;
      cursor = page.cursor;
      if (page.events.length > 0) {
        yield page.events.map(eventFrame).join('');
        lastFrame = deps.clock.monotonicMs();
      }
      if (page.ended) {
        const { status, reasonCode: reason_code } = page;
        yield `event: end\ndata: ${JSON.stringify({ cursor, status, reason_code })}\n\n`;
        return;
      }
      if (page.events.length > 0) continue;
      await watch.wait(pollMs, from.signal);
      if (deps.clock.monotonicMs() - lastFrame >= heartbeatMs) {
        yield ': beat\n\n';
        lastFrame = deps.clock.monotonicMs();
      }
    }
  } finally {
    watch.close();
  }
}

// JSON text has no raw line break, so one event is one data line; a type is our own word or a runtime's, so it is checked.
function eventFrame(event: RunEvent): string {
  const type = /^[a-z][a-z0-9._-]{0,63}$/.test(event.type) ? event.type : 'message';
  return `id: ${event.seq}\nevent: ${type}\ndata: ${JSON.stringify(runEventView(event))}\n\n`;
}

export function runEventView({ seq, type, data, at }: RunEvent): object {
  return { seq, type, data, at: formatInstant(at) };
}
