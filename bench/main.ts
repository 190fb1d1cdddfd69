// `npm run bench`: delivery between two domains beside its floor and the machine, in one run, with interleaved rounds.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureDelivery } from './delivery.js';
import { measureMachine } from './measure-machine.js';
import { measureRuns } from './measure-runs.js';
import { type Figure, printTable } from './table.js';

const groups = ['machine', 'delivery', 'runs'] as const;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});

const only = values.only?.split(',') ?? groups;
const unknown = only.find((name) => !groups.some((group) => group === name));
const rounds = Number(values.rounds);
const scale = Number(values.scale);
if (unknown !== undefined || !(rounds >= 1) || !(scale > 0)) {
  process.stderr.write(`bench [--only ${groups.join(',')}] [--rounds 5] [--scale 1] [--json]\n`);
  process.exit(2);
}

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
  if (values.json) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  else printTable(figures);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
