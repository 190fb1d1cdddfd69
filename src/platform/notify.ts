// Wakeups: a hint that there is something to do on a channel. They only shorten waiting; polling alone must be correct.
import type { Clock } from './clock.js';
import type { Database, Listening } from './database.js';
import { isConnectionLost } from './database-error.js';
import { linkedAbort } from './linked-abort.js';
import type { Log } from './log.js';

export interface Wakeups {
  /** Wakes who waits on the channel here at once and elsewhere soon. Call it after the commit. */
  wake(channel: string): void;
  /** Resolves at the next wake, after `ms`, or when the signal aborts; who waits looks at the signal afterwards. */
  wait(channel: string, ms: number, signal?: AbortSignal): Promise<void>;
  /** For loops: a wake that comes between two waits is kept, and the next wait ends at once. */
  watch(channel: string): Watch;
  close(): Promise<void>;
}

interface Watch {
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  close(): void;
}

// One database channel for all: the payload is "sender channel".
const databaseChannel = 'hearth_wake';
// pg_notify takes a global lock at commit, so notices are gathered and sent apart from the work they announce.
const gatherMs = 8;

export interface CreateWakeups {
  clock: Clock;
  log: Log;
  /** Without a database wakes stay in this process. */
  database?: Database;
  /** Names this process among those on the database; its own notices are ignored. */
  instance: string;
}

export function createWakeups(options: CreateWakeups): Wakeups {
  const local = localWakeups(options.clock);
  const remote = options.database ? remoteWakeups({ ...options, database: options.database }, local) : undefined;
  return {
    wait: local.wait,
    watch: local.watch,
    wake(channel) {
      local.wake(channel);
      remote?.announce(channel);
    },
    async close() {
      local.wakeAll();
      await remote?.close();
    },
  };
}

interface LocalWakeups {
  wake(channel: string): void;
  wakeAll(): void;
  wait(channel: string, ms: number, signal?: AbortSignal): Promise<void>;
  watch(channel: string): Watch;
}

function localWakeups(clock: Clock): LocalWakeups {
  const watchers = new Map<string, Set<() => void>>();

  function watch(channel: string): Watch {
    let pending = false;
    let end: (() => void) | undefined;
    const ring = () => {
      pending = true;
      end?.();
    };
    const ringers = watchers.get(channel) ?? new Set();
    watchers.set(channel, ringers.add(ring));
    return {
      async wait(ms, signal) {
        if (!pending && !signal?.aborted) {
          const woken = linkedAbort(signal);
          end = woken.abort;
          await clock.sleep(ms, woken.signal);
          woken.release();
          end = undefined;
        }
        pending = false;
      },
      close() {
        ringers.delete(ring);
        if (ringers.size === 0 && watchers.get(channel) === ringers) watchers.delete(channel);
      },
    };
  }

  return {
    watch,
    wake: (channel) => watchers.get(channel)?.forEach((ring) => void ring()),
    wakeAll: () => watchers.forEach((ringers) => void ringers.forEach((ring) => void ring())),
    async wait(channel, ms, signal) {
      const watching = watch(channel);
      await watching.wait(ms, signal);
      watching.close();
    },
  };
}

type RemoteOptions = CreateWakeups & { database: Database };

function remoteWakeups(options: RemoteOptions, local: LocalWakeups) {
  const { database, clock, log, instance } = options;
  const gathered = new Set<string>();
  let sending: Promise<void> | undefined;
  let closed = false;
  const listening: Promise<Listening | undefined> = database
    .listen(databaseChannel, hear, local.wakeAll)
    .catch((error: unknown) => {
      // Polling goes on without; the rows are what counts.
      log.warn({ err: error }, 'cannot listen for wakeups of other processes; polling only');
      return undefined;
    });

  function hear(payload: string): void {
    const [sender, channel] = payload.split(' ', 2);
    if (sender !== instance && channel !== undefined) local.wake(channel);
  }

  async function sendAll(): Promise<void> {
    while (gathered.size > 0 && !closed) {
      await clock.sleep(gatherMs);
      const payloads = [...gathered].map((channel) => `${instance} ${channel}`);
      gathered.clear();
      await database.sql`select pg_notify(${databaseChannel}, payload) from unnest(${payloads}::text[]) payload`;
    }
  }

  return {
    announce(channel: string): void {
      if (closed) return;
      gathered.add(channel);
      sending ??= sendAll()
        .catch((error: unknown) => {
          // A lost notice costs the others one poll interval; a lost database is reported by who works on it.
          if (!isConnectionLost(error)) log.warn({ err: error }, 'a wakeup for other processes was not sent');
        })
        .finally(() => {
          sending = undefined;
        });
    },
    async close(): Promise<void> {
      closed = true;
      await sending;
      const channel = await listening;
      await channel?.unlisten().catch((error: unknown) => {
        if (!isConnectionLost(error)) throw error;
      });
    },
  };
}
