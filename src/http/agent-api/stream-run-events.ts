/**
 * A run's events as server-sent events: all after a cursor, then live ones, then `end` once the run is over. Each event's
 * `id` is the cursor behind it, so a cut connection resumes without a gap or a repeat (F11, BR-67). Nothing is remembered
 * between two streams: what is sent is read from the log, so a restart of the server changes nothing.
 *
 * A reader takes as much as it can: at most one chunk waits for it here, and the log is read on only when that is gone. One
 * that has taken nothing for `stallMs` is cut and may come back with its cursor.
 */
import { setMaxListeners } from 'node:events';
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
  limits?: StreamLimits;
}

export interface RunStreams {
  /** Answers the request with a stream; refuses when there are too many. */
  open(ctx: DoorContext, from: From): void;
}

interface From {
  runId: string;
  after: number;
  cursorAt: (seq: number) => string;
}

interface StreamLimits {
  atOnce: number;
  perCaller: number;
  /** What one chunk holds at most, if it is more than one event. */
  chunkBytes: number;
  heartbeatMs: number;
  stallMs: number;
}

const streamLimits: StreamLimits = {
  atOnce: 256,
  perCaller: 16,
  chunkBytes: 64 * 1024,
  heartbeatMs: 15_000,
  stallMs: 30_000,
};
// An event has up to 64 KiB: so much of the log is held for a reader at most.
const pageEvents = 32;
// Wakeups shorten the wait; looking again by itself is what makes it correct.
const pollMs = 1_000;

export function runStreams(deps: StreamRunEvents): RunStreams {
  const limits = deps.limits ?? streamLimits;
  const openPerCaller = new Map<string, number>();
  let openStreams = 0;

  function enter(caller: string): () => void {
    const own = openPerCaller.get(caller) ?? 0;
    if (openStreams >= limits.atOnce || own >= limits.perCaller) {
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
      // Every open stream listens; Node would take so many for a leak.
      setMaxListeners(limits.atOnce + 10, deps.closing);
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
      const stall = () => ctx.res.destroy();
      ctx.body = Readable.from(
        patient(frames(deps, { ...from, limits, signal: over.signal }), { ...deps, limits, stall }),
      );
    },
  };
}

/** Hands chunks on, and gives up on a reader that lets one lie for too long. */
async function* patient(
  chunks: AsyncGenerator<string>,
  { clock, limits, stall }: { clock: Clock; limits: StreamLimits; stall: () => void },
) {
  for await (const chunk of chunks) {
    const waiting = clock.timer(limits.stallMs, stall);
    try {
      yield chunk;
    } finally {
      waiting.cancel();
    }
  }
}

type Streaming = From & { limits: StreamLimits; signal: AbortSignal };

async function* frames(deps: StreamRunEvents, from: Streaming) {
  const { limits, signal, cursorAt } = from;
  const watch = deps.wakeups.watch(runChannel(from.runId));
  let cursor = from.after;
  let lastFrame = deps.clock.monotonicMs();
  try {
    yield 'retry: 1000\n\n';
    while (!signal.aborted) {
      const page = await readRunEvents(deps.sql, from.runId, { after: cursor, limit: pageEvents });
      // Retention has passed a reader by in mid-stream: it is told, as it would be when it came back (BR-38).
      if (page.kind === 'cursor_gap')
        yield `event: gap\ndata: ${JSON.stringify({ oldest_cursor: cursorAt(page.oldest) })}\n\n`;
      if (page.kind !== 'page') return;
      cursor = page.cursor;
      yield* chunksOf(
        page.events.map((event) => eventFrame(event, cursorAt)),
        limits.chunkBytes,
      );
      if (page.events.length > 0) lastFrame = deps.clock.monotonicMs();
      if (page.ended) {
        const { status, reasonCode: reason_code } = page;
        yield `event: end\ndata: ${JSON.stringify({ cursor: cursorAt(cursor), status, reason_code })}\n\n`;
        return;
      }
      if (page.events.length > 0) continue;
      await watch.wait(Math.min(pollMs, limits.heartbeatMs), signal);
      if (deps.clock.monotonicMs() - lastFrame >= limits.heartbeatMs) {
        yield ': beat\n\n';
        lastFrame = deps.clock.monotonicMs();
      }
    }
  } finally {
    watch.close();
  }
}

function* chunksOf(texts: readonly string[], chunkBytes: number) {
  let chunk = '';
  for (const text of texts) {
    if (chunk !== '' && chunk.length + text.length > chunkBytes) {
      yield chunk;
      chunk = '';
    }
    chunk += text;
  }
  if (chunk !== '') yield chunk;
}

// JSON text has no raw line break, so one event is one data line; a type is our own word or a runtime's, so it is checked.
function eventFrame(event: RunEvent, cursorAt: From['cursorAt']): string {
  const type = /^[a-z][a-z0-9._-]{0,63}$/.test(event.type) ? event.type : 'message';
  return `id: ${cursorAt(event.seq)}\nevent: ${type}\ndata: ${JSON.stringify(runEventView(event))}\n\n`;
}

export function runEventView({ seq, type, data, at }: RunEvent): object {
  return { seq, type, data, at: formatInstant(at) };
}
