// Refuses to run on an unpatched copy of postgres.js: the published one ends the process when the server dies inside a transaction.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StartRefused } from './start-refused.js';

let checked = false;

export function requirePatchedPostgres(): void {
  if (checked) return;
  // The resolved file is the CommonJS build; the module build that runs lies beside it.
  const entry = createRequire(import.meta.url).resolve('postgres');
  const connection = join(dirname(entry), '..', '..', 'src', 'connection.js');
  if (!isPatched(readFileSync(connection, 'utf8'))) {
    throw new StartRefused(
      'The installed copy of the package "postgres" lacks the fix that Hearth needs (its process would die with the database). ' +
        'Run "npx patch-package" in the directory of Hearth, or install again without --ignore-scripts.',
    );
  }
  checked = true;
}

export function isPatched(source: string): boolean {
  return /function nextWrite\(fn\) \{\s+if \(!socket\) \{/.test(source);
}
