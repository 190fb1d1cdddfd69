// Makes a cluster, and runs its server as a process: what initdb and postgres are told, and as whom.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import type { PostgresBinaries } from './postgres-binaries.js';
import type { PostgresPlace } from './postgres-place.js';
import { StartRefused } from './start-refused.js';

export const superuser = 'hearth';

const majorVersion = '18';
const largestLogBytes = 16 * 1024 * 1024;
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

// Modest, so that an idle domain stays small; durable, because a receipt promises storage.
const settings: Record<string, string> = {
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  max_connections: '60',
  shared_buffers: '64MB',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  max_wal_size: '512MB',
  io_workers: '1',
  autovacuum_max_workers: '2',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  jit: 'off',
  log_checkpoints: 'off',
  log_timezone: 'UTC',
  timezone: 'UTC',
};

/** initdb works beside and the result is renamed, so that a half-made cluster is never taken for a whole one. */
export async function makeCluster(place: PostgresPlace, binaries: PostgresBinaries): Promise<void> {
  if (existsSync(join(place.data, 'PG_VERSION'))) return checkVersion(place);
  const half = join(place.root, `pg.init.${process.pid}`);
  rmSync(half, { recursive: true, force: true });
  const options = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const access = [`--username=${superuser}`, '--auth-local=trust', '--auth-host=reject'];
  const [command, ...args] = asServerUser([binaries.initdb, '-D', half, ...options, ...access], place, []);
  const output = await run(command, args, plainIdentity(place));
  if (output.code !== 0)
    throw new StartRefused(`The database cluster in ${place.root} could not be made: ${output.text}`);
  try {
    renameSync(half, place.data);
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    // Another starter was faster; who of the two may go on is decided by the ownership lock.
    if (!existsSync(join(place.data, 'PG_VERSION'))) throw error;
  }
}

/** What starters that died inside initdb left behind. Only the owner of the cluster may call it. */
export function removeHalfMadeClusters(place: PostgresPlace): void {
  for (const name of readdirSync(place.root)) {
    if (name.startsWith('pg.init.')) rmSync(join(place.root, name), { recursive: true, force: true });
  }
}

export function spawnPostmaster(place: PostgresPlace, binaries: PostgresBinaries): ChildProcess {
  const set = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const line = [binaries.postgres, '-D', place.data, '-k', place.socketDirectory, ...set];
  // With the death signal, a killed parent takes the server down cleanly instead of leaving it behind. (It follows the
  // thread that spawned, so this must not be called from a worker thread.)
  const [command, ...args] = asServerUser(line, place, ['--pdeathsig', 'INT']);
  const log = openSync(place.logFile, 'a', 0o600);
  try {
    return spawn(command, args, {
      cwd: '/',
      env: environment,
      // A session of its own: Ctrl-C must not stop the database before the work that needs it.
      detached: true,
      stdio: ['ignore', log, log],
      ...plainIdentity(place),
    });
  } finally {
    closeSync(log);
  }
}

/** The server appends to its log, so copying it away and cutting it to nothing keeps it bounded without a restart. */
export function boundLog(place: PostgresPlace): void {
  if (!existsSync(place.logFile) || statSync(place.logFile).size < largestLogBytes) return;
  copyFileSync(place.logFile, `${place.logFile}.1`);
  truncateSync(place.logFile);
}

/** The last lines of the server's log, for the sentence that says why it would not start. */
export function lastLogLines(place: PostgresPlace): string {
  if (!existsSync(place.logFile)) return '';
  return readFileSync(place.logFile, 'utf8').trimEnd().split('\n').slice(-4).join(' | ');
}

function checkVersion(place: PostgresPlace): void {
  const found = readFileSync(join(place.data, 'PG_VERSION'), 'utf8').trim();
  if (found === majorVersion) return;
  throw new StartRefused(
    `The database in ${place.data} was made by PostgreSQL ${found} and this version of Hearth brings ${majorVersion}. ` +
      'Run the version of Hearth that made it, or move the data over with pg_dump into a new data directory.',
  );
}

const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));

/** Linux has setpriv: it can drop to the user and set the death signal in one step. */
function asServerUser(line: string[], place: PostgresPlace, flags: string[]): [string, ...string[]] {
  const { user } = place;
  const drop = user.dropped ? ['--reuid', `${user.uid}`, '--regid', `${user.gid}`, '--clear-groups'] : [];
  const [first = '', ...rest] = line;
  if (setpriv === undefined || (drop.length === 0 && flags.length === 0)) return [first, ...rest];
  return [setpriv, ...flags, ...drop, '--', ...line];
}

function plainIdentity({ user }: PostgresPlace): { uid?: number; gid?: number } {
  return setpriv === undefined && user.dropped ? { uid: user.uid, gid: user.gid } : {};
}

function run(
  command: string,
  args: string[],
  identity: { uid?: number; gid?: number },
): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: '/', env: environment, stdio: ['ignore', 'pipe', 'pipe'], ...identity });
    let text = '';
    const collect = (chunk: Buffer) => {
      text = (text + chunk.toString('utf8')).slice(-2000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, text: text.trim() }));
  });
}
