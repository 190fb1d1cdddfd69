#!/usr/bin/env node
// The `hearth` program: hands the real world to the command line and its answer to the shell.
import { systemClock, systemRandom } from '../platform/index.js';
import { runCommandLine } from './program.js';

// A reader that has seen enough, as in `hearth inbox | head`, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

const exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  clock: systemClock(),
  random: systemRandom(),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
if (exitCode !== undefined) process.exitCode = exitCode;
