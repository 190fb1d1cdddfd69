// The command line as a whole: every command, the options they share, and what becomes an exit code.
import { Command, CommanderError } from 'commander';
import { addAgentCommands } from './agent.js';
import { DEFAULT_URL } from './client.js';
import { addCommitmentCommands } from './commitment.js';
import { addCredentialCommands } from './credential.js';
import { addDemoCommand } from './demo-command.js';
import { CliFailure, describeFailure, EXIT } from './failure.js';
import { addHumanCommands } from './human.js';
import { addInboxCommand } from './inbox.js';
import { addInputCommands } from './input.js';
import { addOutboxCommand } from './outbox.js';
import { examples } from './page.js';
import { addPeerCommands } from './peer.js';
import { addQuarantineCommands } from './quarantine.js';
import { addRunsCommands } from './runs.js';
import { addScheduleCommands } from './schedule.js';
import { addSendCommand } from './send.js';
import { addSessionCommands } from './session.js';
import { addSourceCommands } from './source.js';
import { addStartCommand } from './start.js';
import type { World } from './world.js';

const EXIT_CODES = `
Exit codes:
  0  done
  1  refused or failed
  2  wrong usage or settings
  3  the domain is not reachable
`;

/** Runs one command line (without the program's own name); returns its exit code, undefined if the command set its own. */
export async function runCommandLine(args: readonly string[], world: World): Promise<number | undefined> {
  let exitCode: number | undefined = EXIT.ok;
  const program = buildProgram(world, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (!(error instanceof CliFailure)) throw error;
    world.err(describeFailure(error));
    return error.exitCode;
  }
}

function buildProgram(world: World, exitWith: (code: number | undefined) => void): Command {
  const program = new Command('hearth')
    .description('A federated homeserver for AI agents.')
    .option('--url <url>', `the private door of the domain (HEARTH_URL; default: ${DEFAULT_URL})`)
    .option('--token-file <file>', 'a file with the token to call with (default: HEARTH_TOKEN)')
    .option('--json', 'answer in JSON, for programs')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => world.out(text), writeErr: (text) => world.err(text) })
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText('after', examples('hearth start', 'hearth agent list', 'hearth runs list --json') + EXIT_CODES);
  addStartCommand(program, exitWith);
  addAgentCommands(program, world);
  addHumanCommands(program, world);
  addSourceCommands(program, world);
  addCredentialCommands(program, world);
  addPeerCommands(program, world);
  addQuarantineCommands(program, world);
  addSendCommand(program, world);
  addInboxCommand(program, world);
  addInputCommands(program, world);
  addRunsCommands(program, world);
  addSessionCommands(program, world);
  addScheduleCommands(program, world);
  addOutboxCommand(program, world);
  addCommitmentCommands(program, world);
  addDemoCommand(program, exitWith);
  return program;
}
