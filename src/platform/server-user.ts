// Whom the embedded PostgreSQL runs as. It refuses to run as root, so root hands it to an unprivileged user.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartRefused } from './start-refused.js';

export interface ServerUser {
  uid: number;
  gid: number;
  name: string;
  /** True when this process is root and has to drop to the user. */
  dropped: boolean;
}

// In this order: a user made for the purpose, then the one with the fewest rights.
const candidates = ['postgres', '_postgres', 'nobody'];

/** An existing cluster decides by its owner; else this process's own user; for root one of the candidates. */
export function chooseServerUser(existingData: string | undefined): ServerUser {
  const uid = process.geteuid?.() ?? 0;
  const gid = process.getegid?.() ?? 0;
  const users = readUsers();
  if (uid !== 0) {
    const own = users.find((user) => user.uid === uid);
    if (own) return { uid, gid, name: own.name, dropped: false };
    // Directory services keep users outside the file; on an ordinary machine the lookup by the system is right.
    if (process.platform === 'darwin') return { uid, gid, name: String(uid), dropped: false };
    throw new StartRefused(
      `This process runs as user id ${uid}, which has no entry in /etc/passwd, and PostgreSQL does not start without one. ` +
        'Run Hearth as a named user, add an entry for this id, or set DATABASE_URL to use a PostgreSQL server of your own.',
    );
  }
  const ownerUid = existingData && existsSync(existingData) ? statSync(existingData).uid : 0;
  const owner = ownerUid === 0 ? undefined : users.find((user) => user.uid === ownerUid);
  const named = candidates.flatMap((name) => users.filter((user) => user.name === name));
  const chosen = owner ?? named[0];
  if (!chosen) {
    throw new StartRefused(
      'Hearth runs as root, PostgreSQL does not, and there is no user "postgres" or "nobody" to hand it to. ' +
        'Create one ("useradd --system postgres"), run Hearth as another user, or set DATABASE_URL.',
    );
  }
  return { ...chosen, dropped: true };
}

/** True when the user may enter the directory and everything above it. Access lists beyond the mode bits are not seen. */
export function canEnter(directory: string, user: ServerUser): boolean {
  for (let path = directory; ; path = dirname(path)) {
    const { uid, gid, mode } = statSync(path);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (dirname(path) === path) return true;
  }
}

interface UserEntry {
  name: string;
  uid: number;
  gid: number;
}

function readUsers(): UserEntry[] {
  if (!existsSync('/etc/passwd')) return [];
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [name, , uid, gid] = line.split(':');
      return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
    });
}
