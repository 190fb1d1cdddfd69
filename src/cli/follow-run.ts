// Follows the events of a run over SSE. The cursor lives here: after a cut the stream is opened again behind the last event
// seen, so that a reader gets each event once and in order (F11).
import { z } from 'zod';
import { type Client, pathOf } from './client.js';
import { CliFailure } from './failure.js';
import { type Frame, readFrames } from './server-sent-events.js';
import type { World } from './world.js';

export const runEventShape = z.looseObject({
  seq: z.number(),
  type: z.string(),
  data: z.unknown().optional(),
  at: z.string(),
});
export type RunEvent = z.infer<typeof runEventShape>;

export interface FollowRun {
  readonly runId: string;
  /** The cursor to go on from; the beginning without. */
  readonly after: string | undefined;
  onEvent(event: RunEvent): void;
}

// The door sends a heartbeat every 15 s: three missed ones mean a dead connection.
const SILENCE_MS = 45_000;
const CUTS_IN_A_ROW = 10;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Resolves when the run has ended and every event was seen. Gives up after ten cuts in a row without one new event. */
export async function followRun(client: Client, follow: FollowRun, world: World): Promise<void> {
  let cursor = follow.after;
  let last = 0;
  let everOpened = false;
  let cuts = 0;
  for (;;) {
    const outcome = await readOnce(client, { ...follow, after: cursor, last }, world);
    if (outcome.kind === 'end') return;
    cuts = outcome.last > last ? 1 : cuts + 1;
    ({ cursor, last } = outcome);
    everOpened ||= outcome.opened;
    // A first connection that fails is no cut: nothing answers, and waiting would only hide it.
    if (!everOpened || cuts >= CUTS_IN_A_ROW) throw outcome.failure;
    world.err(`The connection was cut; going on after event ${last}.\n`);
    await world.clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** (cuts - 1), LONGEST_PAUSE_MS));
  }
}

type Outcome =
  | { readonly kind: 'end' }
  | {
      readonly kind: 'cut';
      readonly cursor: string | undefined;
      /** The number of the last event seen. */
      readonly last: number;
      readonly opened: boolean;
      readonly failure: CliFailure;
    };

async function readOnce(client: Client, follow: FollowRun & { last: number }, world: World): Promise<Outcome> {
  const silence = watchSilence(world);
  let opened = false;
  let cursor = follow.after;
  let { last } = follow;
  try {
    const response = await client.open(streamCall(follow), silence.signal);
    opened = true;
    for await (const frame of readFrames(response, silence.heard)) {
      if (frame.event === 'end') return { kind: 'end' };
      const event = readEvent(frame, client);
      cursor = frame.id ?? cursor;
      if (event.seq <= last) continue;
      last = event.seq;
      follow.onEvent(event);
    }
    return { kind: 'cut', cursor, last, opened, failure: cutOff(client) };
  } catch (error) {
    const failure = error instanceof CliFailure ? error : cutOff(client, error);
    // No such run, no right, nonsense in the stream: asking again would not change it.
    if (!failure.retryable) throw failure;
    return { kind: 'cut', cursor, last, opened, failure };
  } finally {
    silence.end();
  }
}

function streamCall({ runId, after }: FollowRun) {
  return {
    path: pathOf('v1', 'runs', runId, 'events'),
    query: { after },
    headers: { accept: 'text/event-stream' },
  };
}

/** Aborts the request once nothing at all, not even a heartbeat, was heard for too long. */
function watchSilence({ clock }: World) {
  const controller = new AbortController();
  let timer = clock.timer(SILENCE_MS, () => controller.abort());
  return {
    signal: controller.signal,
    heard() {
      timer.cancel();
      timer = clock.timer(SILENCE_MS, () => controller.abort());
    },
    end() {
      timer.cancel();
      controller.abort();
    },
  };
}

function readEvent(frame: Frame, client: Client): RunEvent {
  const parsed = runEventShape.safeParse(frame.data);
  if (parsed.success) return parsed.data;
  throw new CliFailure('refused', {
    said: `${client.url} sent an event that is not one of a run.`,
    cause: parsed.error,
  });
}

function cutOff(client: Client, cause?: unknown): CliFailure {
  return new CliFailure('unreachable', {
    said: `${client.url} cut the stream before the run had ended.`,
    advice: 'Follow again with --after and the cursor of the last event.',
    cause,
  });
}
