// The operator's key encryption key: 32 bytes in a file of mode 0600, made at the first start of a domain.
import { constants } from 'node:fs';
import { chmod, link, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Random, StartRefused } from '../../platform/index.js';
import { fromBase64url, toBase64url } from '../../protocol/index.js';

const kekBytes = 32;
const longestFile = 1_024;

/** Reads the key; undefined when there is no file. Anything wrong with it refuses the start in words. */
export async function readKeyEncryptionKey(file: string): Promise<Uint8Array | undefined> {
  const handle = await open(file, constants.O_RDONLY).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new StartRefused(`The key encryption key file ${file} cannot be read (${codeOf(error)}).`, { cause: error });
  });
  if (!handle) return undefined;
  try {
    const { mode, size } = await handle.stat();
    if ((mode & 0o077) !== 0) {
      throw new StartRefused(`The key encryption key file ${file} can be read by others. Run: chmod 600 ${file}`);
    }
    const bytes = size <= longestFile ? parseKey(await handle.readFile()) : undefined;
    if (bytes) return bytes;
    throw new StartRefused(
      `The key encryption key file ${file} does not hold ${kekBytes} bytes in base64url (43 characters). Restore it from your copy.`,
    );
  } finally {
    await handle.close();
  }
}

/** Makes the file, whole or not at all; of several starters at once, all read the one that was first. */
export async function makeKeyEncryptionKey(file: string, random: Random): Promise<Uint8Array> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${toBase64url(random.bytes(9))}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${toBase64url(random.bytes(kekBytes))}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(draft, 0o600);
  try {
    // link refuses to replace: the first starter wins.
    await link(draft, file);
    await syncDirectory(dirname(file));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readKeyEncryptionKey(file);
  if (!made) throw new StartRefused(`The key encryption key file ${file} vanished while it was made.`);
  return made;
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function parseKey(content: Buffer): Uint8Array | undefined {
  const bytes = fromBase64url(content.toString('latin1').trim());
  return bytes?.byteLength === kekBytes ? bytes : undefined;
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : 'unknown error';
}
