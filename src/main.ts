// `hearth start`: reads the settings, starts the domain, shows the start page, and stops in order when told to.
import { basename, relative } from 'node:path';
import { type Config, loadConfig } from './config.js';
import { type Announcement, type InterposedPorts, type RunningDomain, startDomain } from './domain.js';
import { createLog, isConnectionLost, type Log, StartRefused, systemClock, systemRandom } from './platform/index.js';
import { foundingPage, operatorPage, readyPage } from './start-page.js';

export type { InterposedPorts } from './domain.js';

/** Options of the command line in camelCase; `interpose` wraps the ports, for faults injected from outside. */
export interface StartOptions {
  interpose?: (ports: InterposedPorts) => InterposedPorts;
  /** The operator's token was lost: this start shows a new one, and the old one ends. */
  newOperatorToken?: boolean;
  [flag: string]: unknown;
}

const exitCodes = { drained: 0, failed: 1, refused: 2, forced: 130 } as const;

/** Resolves when the domain runs; the process ends by signal. A refused start says why in one sentence and exits with 2. */
export async function startHearth({ interpose, newOperatorToken = false, ...flags }: StartOptions = {}): Promise<void> {
  const stop = stopOnSignals();
  try {
    const config = loadConfig(process.env, flags);
    const log = createLog({ level: config.logLevel });
    const domain = await startDomain({
      config,
      log,
      clock: systemClock(),
      random: systemRandom(),
      announce: (announcement) => print(pageOf(config, announcement)),
      newOperatorToken,
      ...(interpose ? { interpose } : {}),
    });
    await stop.requested;
    await drain(domain, log);
    process.exitCode = exitCodes.drained;
  } catch (error) {
    if (error instanceof StartRefused) {
      process.stderr.write(`hearth: ${error.message}\n`);
      process.exitCode = exitCodes.refused;
    } else {
      process.stderr.write(`hearth: the domain stopped by a fault: ${faultOf(error)}\n`);
      process.exitCode = exitCodes.failed;
    }
  } finally {
    stop.forget();
  }
}

function pageOf(config: Config, announcement: Announcement): string {
  switch (announcement.kind) {
    case 'founding':
      return foundingPage(config);
    case 'operator':
      return operatorPage(announcement.operator);
    case 'ready':
      return readyPage(config, announcement, commandOf(process.argv[1]));
  }
}

/** What to type for what runs now: `hearth` where it is on the path, else node and the file of this checkout. */
function commandOf(program: string | undefined): string {
  if (program === undefined || basename(program) === 'hearth') return 'hearth';
  const near = relative(process.cwd(), program);
  return `node ${near.startsWith('..') ? program : near}`;
}

async function drain(domain: RunningDomain, log: Log): Promise<void> {
  log.info('draining');
  print('\nStopping: requests and runs in work get a moment to end. Press Ctrl-C again to stop at once.\n');
  await domain.stop();
  print('Stopped.\n');
}

/** The first signal asks to drain, the second ends the process; what was acknowledged is in the database either way. */
function stopOnSignals(): { requested: Promise<void>; forget(): void } {
  let ask: () => void = () => undefined;
  const requested = new Promise<void>((resolve) => {
    ask = resolve;
  });
  let asked = false;
  const onSignal = () => {
    if (asked) process.exit(exitCodes.forced);
    asked = true;
    ask();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    requested,
    forget() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}

function print(text: string): void {
  process.stdout.write(text);
}

function faultOf(error: unknown): string {
  if (isConnectionLost(error)) return 'the database went away while the domain started; start it again';
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
