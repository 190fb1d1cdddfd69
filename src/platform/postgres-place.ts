// Where the embedded cluster, its socket and its log live, made so that the user it runs as can reach them.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { canEnter, chooseServerUser, type ServerUser } from './server-user.js';
import { StartRefused } from './start-refused.js';

export interface PostgresPlace {
  user: ServerUser;
  /** Holds everything below; 0700 and owned by the user. */
  root: string;
  data: string;
  socketDirectory: string;
  logFile: string;
  /** Where binaries may be copied to when the installed ones cannot be used in place. */
  binariesCache: string;
}

// Where root keeps clusters whose data directory the unprivileged user cannot reach.
export const sharedRoot = '/var/lib/hearth';
const socketName = '.s.PGSQL.5432';

export function placePostgres(dataDirectory: string): PostgresPlace {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const home = realpathSync(dataDirectory);
  const pointer = join(home, 'postgres.location');
  const recorded = existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : undefined;
  const inside = join(home, 'postgres');
  const user = chooseServerUser(join(recorded ?? inside, 'data'));
  const root = recorded ?? chooseRoot(home, inside, user);
  if (root !== inside && recorded === undefined) {
    writeFileSync(pointer, `${root}\n`, { mode: 0o600 });
  }
  makePrivate(root, user);
  const socketDirectory = chooseSocketDirectory(root, user);
  makePrivate(socketDirectory, user);
  return {
    user,
    root,
    data: join(root, 'data'),
    socketDirectory,
    logFile: join(root, 'postgres.log'),
    binariesCache: user.dropped ? join(sharedRoot, 'binaries') : join(root, 'binaries'),
  };
}

function chooseRoot(home: string, inside: string, user: ServerUser): string {
  if (!user.dropped) return inside;
  if (canEnter(dirname(home), user)) {
    // The user passes through to its own part; secrets beside it keep their own 0700 and 0600.
    chmodSync(home, (statSync(home).mode & 0o777) | 0o011);
    return inside;
  }
  // Never named after the data directory: one that is made anew at the same path must not find an old database.
  makeShared(sharedRoot);
  const elsewhere = mkdtempSync(join(sharedRoot, 'data-'));
  chownSync(elsewhere, user.uid, user.gid);
  return elsewhere;
}

/** The kernel takes 107 bytes for a socket's path (103 on macOS). A longer one moves to a short directory of the same name always. */
function chooseSocketDirectory(root: string, user: ServerUser): string {
  const beside = join(root, 'run');
  const limit = process.platform === 'darwin' ? 103 : 107;
  if (Buffer.byteLength(join(beside, socketName)) <= limit) return beside;
  return join('/tmp', `hearth-${user.uid}-${shortHash(root)}`);
}

function makePrivate(directory: string, user: ServerUser): void {
  if (!existsSync(directory)) {
    mkdirSync(directory, { mode: 0o700 });
    if (user.dropped) chownSync(directory, user.uid, user.gid);
  }
  const found = lstatSync(directory);
  // Somebody else's directory under a name we would trust is a trap, not a place.
  if (!found.isDirectory() || found.uid !== user.uid) {
    throw new StartRefused(
      `${directory} must be a directory that belongs to the user ${user.name}, and it is not. ` +
        'Remove it if it is a leftover, or choose another data directory (HEARTH_DATA_DIRECTORY).',
    );
  }
  if ((found.mode & 0o777) !== 0o700) chmodSync(directory, 0o700);
}

/** Root's umask may be narrow; the server's user has to pass through all the same. */
export function makeShared(directory: string): void {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o755);
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
