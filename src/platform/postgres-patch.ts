/**
 * Refuses to run on an unpatched copy of postgres.js. When the server dies, the published one ends the process, inside a
 * transaction or while a connection is made; and it sends the rollback of a transaction that died over the new connection,
 * into the middle of whatever transaction has that now, which then commits its second half alone.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StartRefused } from './start-refused.js';

let checked = false;

export function requirePatchedPostgres(): void {
  if (checked) return;
  // The resolved file is the CommonJS build; the module build that runs lies beside it.
  const entry = createRequire(import.meta.url).resolve('postgres');
  const source = join(dirname(entry), '..', '..', 'src');
  if (!isPatched(['connection.js', 'index.js'].map((name) => readFileSync(join(source, name), 'utf8')).join('\n'))) {
    throw new StartRefused(
      'The installed copy of the package "postgres" lacks the fixes that Hearth needs (its process would die with the database). ' +
        'Run "npx patch-package" in the directory of Hearth, or install again without --ignore-scripts.',
    );
  }
  checked = true;
}

/** One mark of each fix. */
const marks = [
  /function nextWrite\(fn\) \{\s+if \(!socket\) \{/,
  /fetchArrayTypes\(\)\.catch\(/,
  /if \(lost\)\s+return q\.reject\(lost\)/,
];

export function isPatched(source: string): boolean {
  return marks.every((mark) => mark.test(source));
}
