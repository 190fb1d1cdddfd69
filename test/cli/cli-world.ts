// A world to run command lines in: what is written is kept, waiting takes no time.
import { runCommandLine } from '../../src/cli/program.js';
import type { World } from '../../src/cli/world.js';
import { seededRandom, systemClock } from '../../src/platform/index.js';

export const testUrl = 'http://127.0.0.1:7421';
export const testToken = 'hearth_operator_canary-token-7f3a';

const random = seededRandom(1);

export interface Ran {
  exitCode: number | undefined;
  out: string;
  err: string;
}

/** Runs one command line with a token in the environment, unless `env` says otherwise. */
export async function runCli(args: readonly string[], env: World['env'] = { HEARTH_TOKEN: testToken }): Promise<Ran> {
  const ran: Ran = { exitCode: undefined, out: '', err: '' };
  ran.exitCode = await runCommandLine(args, {
    env,
    clock: { ...systemClock(), sleep: () => Promise.resolve() },
    random,
    out: (text) => {
      ran.out += text;
    },
    err: (text) => {
      ran.err += text;
    },
  });
  return ran;
}
