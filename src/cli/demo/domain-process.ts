/** One domain of the demo as its own process, watched over as an init system would: when it dies, it is started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../platform/index.js';
import type { PortCounts, Strike, Victim } from './chaos-plan.js';

export interface DomainProcessOptions {
  domain: Victim;
  directory: string;
  federationPort: number;
  apiPort: number;
  peer: { domain: Victim; federationPort: number };
  effectOrigin: string;
  chaos: boolean;
  clock: Clock;
}

export interface DomainProcess {
  domain: Victim;
  apiUrl: string;
  federationUrl: string;
  dataDirectory: string;
  /** Shown once on the first start's page, as a person would read it there. */
  operatorToken(): string;
  /** How often the process had to be started again. */
  restarts(): number;
  /** Chaos only: sets the strike of the coming round and starts counting its port calls from zero. */
  arm(strike: Strike | undefined): Promise<void>;
  /** Chaos only: the port calls since `arm`, and whether the strike has fallen. */
  tally(): Promise<{ counts: PortCounts[Victim]; struck: boolean }>;
  /** Drains the process as Ctrl-C does. */
  stop(): Promise<void>;
}

interface State {
  child: ChildProcess;
  token: string | undefined;
  restarts: number;
  stopping: boolean;
  struck: boolean;
  answer: ((message: { counts: PortCounts[Victim] }) => void) | undefined;
}

/** Longest time a start may take until the domain is healthy, in milliseconds. */
const startLimitMs = 60_000;

export async function startDomainProcess(options: DomainProcessOptions): Promise<DomainProcess> {
  const log = createWriteStream(`${options.directory}/${options.domain}.log`, { flags: 'a' });
  const state: State = {
    child: launch(options, log),
    token: undefined,
    restarts: 0,
    stopping: false,
    struck: false,
    answer: undefined,
  };
  watch(options, state, log);
  const apiUrl = `http://127.0.0.1:${options.apiPort}`;
  await waitHealthy(options, apiUrl, state);
  return {
    domain: options.domain,
    apiUrl,
    federationUrl: `http://127.0.0.1:${options.federationPort}`,
    dataDirectory: dataDirectoryOf(options),
    operatorToken: () => {
      if (state.token === undefined) throw new Error(`${options.domain} showed no operator token`);
      return state.token;
    },
    restarts: () => state.restarts,
    arm: async (strike) => {
      await waitHealthy(options, apiUrl, state);
      state.struck = false;
      await send(state.child, { arm: strike ?? null });
    },
    tally: async () => {
      await waitHealthy(options, apiUrl, state);
      const counts = await askCounts(state);
      return { counts, struck: state.struck };
    },
    stop: () => stop(state, log),
  };
}

function dataDirectoryOf(options: DomainProcessOptions): string {
  return `${options.directory}/${options.domain}`;
}

function launch(options: DomainProcessOptions, log: WriteStream): ChildProcess {
  const entry = options.chaos ? './chaos-node.js' : '../hearth.js';
  const child = spawn(process.execPath, [fileURLToPath(new URL(entry, import.meta.url)), 'start'], {
    env: {
      PATH: process.env.PATH,
      HEARTH_DOMAIN: options.domain,
      HEARTH_DATA_DIRECTORY: dataDirectoryOf(options),
      HEARTH_FEDERATION_PORT: `${options.federationPort}`,
      HEARTH_API_PORT: `${options.apiPort}`,
      HEARTH_RESOLVE: `${options.peer.domain}=http://127.0.0.1:${options.peer.federationPort}`,
      HEARTH_EFFECT_ORIGINS: options.effectOrigin,
      HEARTH_LOG_LEVEL: 'info',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  child.stderr?.pipe(log, { end: false });
  child.stdout?.pipe(log, { end: false });
  return child;
}

/** Reads the operator token and the child's reports, and starts the process again when it dies unasked. */
function watch(options: DomainProcessOptions, state: State, log: WriteStream): void {
  const { child } = state;
  child.stdout?.on('data', (chunk: Buffer) => {
    state.token ??= /hearth_operator_[A-Za-z0-9_-]+/.exec(chunk.toString('utf8'))?.[0];
  });
  child.on('message', (message: { struck?: true; counts?: PortCounts[Victim] }) => {
    if (message.struck) state.struck = true;
    if (message.counts) state.answer?.({ counts: message.counts });
  });
  child.once('exit', () => {
    if (state.stopping) return;
    state.restarts += 1;
    state.child = launch(options, log);
    watch(options, state, log);
  });
}

async function waitHealthy(options: DomainProcessOptions, apiUrl: string, state: State): Promise<void> {
  const until = options.clock.monotonicMs() + startLimitMs;
  while (options.clock.monotonicMs() < until) {
    if (state.child.exitCode === 2) break;
    const healthy = await fetch(`${apiUrl}/healthz`).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) return;
    await options.clock.sleep(50);
  }
  throw new Error(`${options.domain} did not become healthy; its log is ${options.directory}/${options.domain}.log`);
}

function send(child: ChildProcess, message: object): Promise<void> {
  return new Promise((resolve, reject) => {
    child.send(message, (error) => (error ? reject(error) : resolve()));
  });
}

async function askCounts(state: State): Promise<PortCounts[Victim]> {
  const { child } = state;
  return await new Promise((resolve, reject) => {
    state.answer = ({ counts }) => resolve(counts);
    child.once('exit', () => reject(new Error('the domain died while it was asked')));
    send(child, { tally: true }).catch(reject);
  });
}

async function stop(state: State, log: WriteStream): Promise<void> {
  state.stopping = true;
  const { child } = state;
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGINT');
    await ended;
  }
  log.end();
}
