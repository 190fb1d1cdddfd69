// `npm run bench`: delivery between two domains beside its floor and the machine, in one run, with interleaved rounds.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureDelivery } from './delivery.js';
import { measureMachine } from './measure-machine.js';
import { measureRuns } from './measure-runs.js';
import { readOptions, usage } from './options.js';
import { type Figure, printTable } from './table.js';

const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stdout.write(usage);
  process.exit(0);
}
if (typeof options === 'string') {
  process.stderr.write(`${options}\n\n${usage}`);
  process.exit(2);
}
const { only, rounds, scale, json } = options;

const directory = mkdtempSync(join(tmpdir(), 'hearth-bench-'));
// So that, as root, the database servers' own user may pass.
chmodSync(directory, 0o711);
const say = (line: string) => process.stderr.write(`${line}\n`);

try {
  const figures: Figure[] = [];
  const plan = { directory, rounds, scale, say };
  if (only.includes('machine')) figures.push(...(await measureMachine(plan)));
  if (only.includes('delivery')) figures.push(...(await measureDelivery(plan)));
  if (only.includes('runs')) figures.push(...(await measureRuns(plan)));
  if (json) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  else printTable(figures);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
