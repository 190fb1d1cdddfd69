// Reads files that people name: whole or not at all, and never more than they may hold, so that a device or a wrong path
// cannot fill the memory.
import { closeSync, openSync, readSync } from 'node:fs';

export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
}

export function readBoundedFile(path: string, maxBytes: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(maxBytes + 1);
    let size = 0;
    for (;;) {
      const read = readSync(file, bytes, size, bytes.byteLength - size, null);
      size += read;
      if (size > maxBytes) throw new FileTooLarge(`${path} has more than ${maxBytes} bytes`);
      if (read === 0) return bytes.toString('utf8', 0, size);
    }
  } finally {
    closeSync(file);
  }
}
