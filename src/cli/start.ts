// `hearth start`: runs a domain in this process until it is told to stop.
import type { Command } from 'commander';
import { describeSettings } from '../config.js';
import { examples } from './page.js';

/** Exit codes of a start are set by the start itself: it ends long after the command line was read. */
export function addStartCommand(program: Command, exitWith: (code: undefined) => void): void {
  const start = program
    .command('start')
    .description('run a domain: its database, its two doors and its workers')
    .option('--config <file>', 'settings as JSON; options and environment win over it (default: hearth.config.json)')
    .option('--new-operator-token', 'the operator token was lost: end it and show a new one at this start')
    .configureHelp({ showGlobalOptions: false })
    .addHelpText('after', examples('hearth start --domain alpha.test --data-directory ./alpha'));
  for (const { flag, variable, description } of describeSettings()) {
    start.option(`${flag} <value>`, `${description} (${variable})`);
  }
  start.action(async (flags: Readonly<Record<string, string>>) => {
    exitWith(undefined);
    // Only this command needs the whole server; the others stay quick.
    const { startHearth } = await import('../main.js');
    await startHearth(flags);
  });
}
