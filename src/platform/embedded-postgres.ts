// The supervisor of the domain's own PostgreSQL: starts it, owns it alone, restarts it when it dies, stops it last.
import type { ChildProcess } from 'node:child_process';
import type { Clock } from './clock.js';
import type { DatabaseTarget } from './database.js';
import type { Log } from './log.js';
import { type PostgresBinaries, preparePostgresBinaries } from './postgres-binaries.js';
import {
  boundLog,
  lastLogLines,
  makeCluster,
  removeHalfMadeClusters,
  spawnPostmaster,
  superuser,
} from './postgres-cluster.js';
import {
  type Claim,
  claimOwnership,
  createDatabaseIfMissing,
  pidOfServer,
  readPidFile,
  tryDoor,
} from './postgres-ownership.js';
import { type PostgresPlace, placePostgres } from './postgres-place.js';
import { StartRefused } from './start-refused.js';

export interface EmbeddedPostgres {
  target: DatabaseTarget;
  /** Where the cluster lies: usually inside the data directory, elsewhere when its user cannot reach that. */
  directory: string;
  pid(): number | undefined;
  stop(): Promise<void>;
}

interface Supervised {
  place: PostgresPlace;
  binaries: PostgresBinaries;
  clock: Clock;
  log: Log;
  /** Aborts when stop() is called. */
  stopping: AbortSignal;
}

interface Running {
  child: ChildProcess;
  claim: Claim;
  /** Resolves when the process has ended. */
  ended: Promise<void>;
}

const databaseName = 'hearth';
const pollMs = 50;
// After a crash the old server's shared memory and lock file stay in the way for a second or two.
const earlyExitMs = 6_000;
const orphanStopMs = 30_000;
const fastStopMs = 15_000;
const firstRestartMs = 100;
const longestRestartMs = 5_000;
const boundLogMs = 60_000;

export async function startEmbeddedPostgres(options: {
  dataDirectory: string;
  clock: Clock;
  log: Log;
}): Promise<EmbeddedPostgres> {
  const { clock, log } = options;
  const place = placePostgres(options.dataDirectory);
  const binaries = preparePostgresBinaries(place.binariesCache, place.user);
  const stop = new AbortController();
  const supervised: Supervised = { place, binaries, clock, log, stopping: stop.signal };

  await makeCluster(place, binaries);
  boundLog(place);
  let current: Running | undefined = await startOwned(supervised);
  removeHalfMadeClusters(place);
  const started = current;
  log.info({ directory: place.root, user: place.user.name, pid: started.child.pid }, 'embedded PostgreSQL serves');
  await createDatabaseIfMissing(started.claim.sql, databaseName).catch(async (error: unknown) => {
    stop.abort();
    await stopRunning(started, clock);
    throw error;
  });
  const supervision = keepRunning(supervised, started, (running) => {
    current = running;
  });

  return {
    target: embeddedTarget(options.dataDirectory),
    directory: place.root,
    pid: () => current?.child.pid,
    async stop() {
      stop.abort();
      await supervision;
      if (current) await stopRunning(current, clock);
      current = undefined;
    },
  };
}

/** How to reach the server of a data directory that another process of this machine supervises. */
export function embeddedTarget(dataDirectory: string): DatabaseTarget {
  const { socketDirectory } = placePostgres(dataDirectory);
  return { kind: 'socket', directory: socketDirectory, user: superuser, database: databaseName };
}

/** Runs until stop() is called. An unexpected end is followed by a new start, with growing gaps, for ever. */
async function keepRunning(
  supervised: Supervised,
  first: Running,
  show: (now: Running | undefined) => void,
): Promise<void> {
  const { stopping, clock, log, place } = supervised;
  let running: Running | undefined = first;
  let gapMs = firstRestartMs;
  while (!stopping.aborted) {
    if (running) {
      await endOrStop(supervised, running);
      if (stopping.aborted) return;
      log.warn(
        { pid: running.child.pid, signal: running.child.signalCode, code: running.child.exitCode },
        'PostgreSQL died; starting it again',
      );
      await running.claim.release();
      running = undefined;
      show(running);
    }
    await clock.sleep(gapMs, stopping);
    if (stopping.aborted) return;
    try {
      boundLog(place);
      running = await startOwned(supervised);
      show(running);
      gapMs = firstRestartMs;
      log.info({ pid: running.child.pid }, 'PostgreSQL runs again');
    } catch (error) {
      if (stopping.aborted) return;
      // There is nobody to tell but the operator: the domain cannot work without its database, so it keeps trying.
      log.error({ err: error, nextAttemptMs: gapMs }, 'PostgreSQL does not start; trying again');
      gapMs = Math.min(gapMs * 2, longestRestartMs);
    }
  }
}

/** Waits for the process to end or for stop(); meanwhile keeps the server's log bounded. */
async function endOrStop({ place, clock, stopping }: Supervised, running: Running): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  running.ended.then(end);
  stopping.addEventListener('abort', end, { once: true });
  while (!over.signal.aborted && !stopping.aborted) {
    await clock.sleep(boundLogMs, over.signal);
    boundLog(place);
  }
  stopping.removeEventListener('abort', end);
}

/** One start to the end: past another server in the way, past the leftovers of a crash, to a server that is ours alone. */
async function startOwned(supervised: Supervised): Promise<Running> {
  const { place, binaries, clock, stopping } = supervised;
  const since = clock.monotonicMs();
  for (;;) {
    await clearTheWay(supervised);
    const child = spawnPostmaster(place, binaries);
    const ended = whenEnded(child);
    const state = await whenReady(supervised, child);
    if (state === 'ready') return takeOver(supervised, child, ended);
    if (stopping.aborted) throw new Error('PostgreSQL was stopped while it started');
    if (clock.monotonicMs() - since > earlyExitMs) {
      throw new StartRefused(
        `PostgreSQL does not start in ${place.data}. Its log (${place.logFile}) ends: ${lastLogLines(place)}`,
      );
    }
    await clock.sleep(pollMs * 4, stopping);
  }
}

/** A server may already answer here: another live domain's (refuse), or one left behind by a killed process (stop it). */
async function clearTheWay({ place, clock, log, stopping }: Supervised): Promise<void> {
  for (let door = await tryDoor(place); door !== 'shut' && !stopping.aborted; door = await tryDoor(place)) {
    if (door === 'open') {
      const claim = await claimUnlessLost(place, () => undefined);
      if (claim && !claim.taken) throw ownedBy(claim.holder, place);
      if (claim) {
        log.warn({ directory: place.root }, 'a PostgreSQL left behind by a killed process is stopped first');
        await stopOrphan(place, claim, clock);
      }
    }
    await clock.sleep(pollMs, stopping);
  }
}

/** Undefined when the server went away in the middle, which a server on its way down does. */
async function claimUnlessLost(place: PostgresPlace, onLost: () => void): Promise<Claim | undefined> {
  try {
    return await claimOwnership(place, onLost);
  } catch (error) {
    if ((await tryDoor(place)) !== 'open') return undefined;
    throw error;
  }
}

async function stopOrphan(place: PostgresPlace, claim: Claim, clock: Clock): Promise<void> {
  const pid = await pidOfServer(place, claim.sql);
  if (pid === undefined) {
    await claim.release();
    throw new StartRefused(
      `A PostgreSQL server that was not started here serves ${place.data}. Stop it, or choose another data directory.`,
    );
  }
  signal(pid, 'SIGINT');
  await claim.release();
  const since = clock.monotonicMs();
  while (readPidFile(place)?.pid === pid) {
    const waited = clock.monotonicMs() - since;
    if (waited > 2 * orphanStopMs)
      throw new StartRefused(`The PostgreSQL server ${pid} in ${place.data} does not stop.`);
    if (waited > orphanStopMs) signal(pid, 'SIGQUIT');
    await clock.sleep(pollMs);
  }
}

/** Recovery after a crash may take long, and the server says so itself; only its end is a failure. */
async function whenReady({ place, clock, stopping }: Supervised, child: ChildProcess): Promise<'ready' | 'ended'> {
  while (!hasEnded(child)) {
    if (stopping.aborted) child.kill('SIGINT');
    // Another server may answer on the socket while ours finds the lock file taken and leaves.
    else if ((await tryDoor(place)) === 'open' && readPidFile(place)?.pid === child.pid) return 'ready';
    await clock.sleep(pollMs / 2);
  }
  return 'ended';
}

async function takeOver(supervised: Supervised, child: ChildProcess, ended: Promise<void>): Promise<Running> {
  const { place } = supervised;
  const claim = await claimOwnership(place, () => reclaim(supervised, running));
  const running: Running = { child, claim, ended };
  if (claim.taken) return running;
  child.kill('SIGINT');
  await ended;
  throw ownedBy(claim.holder, place);
}

/** Only the connection went, not the server: take the lock again before anybody thinks this server an orphan. */
function reclaim(supervised: Supervised, running: Running): void {
  const { place, clock, log, stopping } = supervised;
  clock.timer(pollMs, () => {
    if (stopping.aborted || hasEnded(running.child)) return;
    claimUnlessLost(place, () => reclaim(supervised, running)).then(
      (claim) => {
        if (claim?.taken) running.claim = claim;
        else if (claim) log.error({ holder: claim.holder }, 'another process took the embedded PostgreSQL over');
      },
      (error: unknown) =>
        log.error({ err: error }, 'the ownership of the embedded PostgreSQL could not be taken again'),
    );
  });
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function stopRunning({ child, claim, ended }: Running, clock: Clock): Promise<void> {
  await claim.release();
  child.kill('SIGINT');
  const late = clock.timer(fastStopMs, () => child.kill('SIGQUIT'));
  await ended;
  late.cancel();
}

function whenEnded(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    // The program itself could not be run; the log of the server has nothing, the refusal after some tries says where to look.
    child.once('error', () => resolve());
  });
}

function signal(pid: number, name: 'SIGINT' | 'SIGQUIT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && Reflect.get(error, 'code') === 'ESRCH')) throw error;
  }
}

function ownedBy(holder: string, place: PostgresPlace): StartRefused {
  return new StartRefused(
    `The data directory is in use: ${holder} runs the database in ${place.root}. ` +
      'Stop that process first, or give this one another data directory (HEARTH_DATA_DIRECTORY).',
  );
}
