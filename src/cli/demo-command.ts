// `hearth demo`: two domains on this machine, one real request between them.
import type { Command } from 'commander';
import { examples, wholeNumber } from './page.js';

interface Demo {
  readonly chaos?: boolean;
  readonly rounds: number;
  readonly seed: number;
  readonly json?: boolean;
}

export function addDemoCommand(program: Command, exitWith: (code: number) => void): void {
  program
    .command('demo')
    .description('start two domains here and watch a webhook become work between them')
    .option('--chaos', 'kill a process or a database at a seeded moment in each round')
    .option('--rounds <count>', 'how many rounds', wholeNumber, 1)
    .option('--seed <number>', 'which moments are chosen', wholeNumber, 1)
    .configureHelp({ showGlobalOptions: false })
    .addHelpText('after', examples('hearth demo', 'hearth demo --chaos --rounds 20 --seed 7'))
    .action(async (_, command: Command) => {
      const { chaos = false, rounds, seed, json = false } = command.optsWithGlobals<Demo>();
      const { runDemo } = await import('./demo/run-demo.js');
      exitWith(await runDemo({ chaos, rounds, seed, json }));
    });
}
