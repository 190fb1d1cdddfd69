// The benchmark still runs from end to end; what it measures is nobody's assertion.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readOptions } from '../../bench/options.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

it('a run of tiny size delivers through both pairs, runs an agent, and reports each figure', async () => {
  const node = process.execPath;
  await run(node, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.bench.json'], { cwd: root });
  const args = ['dist-bench/bench/main.js', '--rounds', '1', '--scale', '0.02', '--json'];
  const { stdout } = await run(node, args, { cwd: root });
  const figures: { name: string; value: string }[] = JSON.parse(stdout);
  expect(figures.map(({ name }) => name.slice(0, 16))).toEqual([
    'machine: Ed25519',
    'machine: Ed25519',
    'machine: mailbox',
    'machine: mailbox',
    'hearth delivery,',
    'floor  delivery,',
    'hearth queueing ',
    'floor  queueing ',
    'hearth both: pro',
    'floor  both: pro',
    'hearth delivery,',
    'floor  delivery,',
    'input accepted →',
    'the same at 500 ',
    'answer accepted ',
    'the same beside ',
    'floor: row writt',
    'input → run → co',
    'floor: row writt',
    'memory of a doma',
  ]);
  expect(figures.filter(({ value }) => !(Number.parseFloat(value) > 0))).toEqual([]);
}, 180_000);

it.each([
  [['--help'], undefined],
  [['--rounds', '0'], '--rounds is a whole number from 1.'],
  [['--rounds', '1.5'], '--rounds is a whole number from 1.'],
  [['--scale', '0'], '--scale is a number above 0.'],
  [['--only', 'runs,tea'], 'There is no group tea: machine, delivery, runs.'],
  [['--nonsense'], expect.stringContaining("Unknown option '--nonsense'")],
  [['--only', 'runs', '--json'], { only: ['runs'], rounds: 5, scale: 1, json: true }],
])('%j is understood, or answered with a sentence', (args, expected) => {
  expect(readOptions(args)).toEqual(expected);
});
