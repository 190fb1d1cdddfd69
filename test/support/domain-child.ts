// A domain as its own process, from the built program and with its embedded PostgreSQL: to be killed and started again.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/platform/index.js';

const program = fileURLToPath(new URL('../../dist/cli/hearth.js', import.meta.url));
const startLimitMs = 40_000;

export interface DomainChild {
  apiUrl: string;
  federationUrl: string;
  operatorToken(): string;
  /** What the process has said so far, on both outputs. */
  said(): string;
  start(): Promise<void>;
  /** SIGKILL: nothing of it can end in order. */
  kill(): Promise<void>;
  /** Sends SIGTERM at once; resolves with the exit code once it has drained. */
  terminate(): Promise<number | null>;
  remove(): Promise<void>;
}

export interface DomainChildOptions {
  domain: string;
  federationPort: number;
  apiPort: number;
  resolve?: string;
}

export async function domainChild(options: DomainChildOptions): Promise<DomainChild> {
  if (!existsSync(program)) throw new Error('build first: npm run build');
  const directory = await mkdtemp(join(tmpdir(), 'hearth-child-'));
  const apiUrl = `http://127.0.0.1:${options.apiPort}`;
  let child: ChildProcess | undefined;
  let said = '';

  function launch(): ChildProcess {
    const launched = spawn(process.execPath, [program, 'start'], {
      env: {
        PATH: process.env.PATH,
        HEARTH_DOMAIN: options.domain,
        HEARTH_DATA_DIRECTORY: join(directory, 'data'),
        HEARTH_FEDERATION_PORT: String(options.federationPort),
        HEARTH_API_PORT: String(options.apiPort),
        ...(options.resolve === undefined ? {} : { HEARTH_RESOLVE: options.resolve }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const output of [launched.stdout, launched.stderr])
      output?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return launched;
  }

  const ended = (process: ChildProcess) =>
    process.exitCode !== null || process.signalCode !== null
      ? Promise.resolve()
      : new Promise<void>((resolve) => process.once('exit', () => resolve()));

  return {
    apiUrl,
    federationUrl: `http://127.0.0.1:${options.federationPort}`,
    operatorToken: () => /hearth_operator_[A-Za-z0-9_-]{43}/.exec(said)?.[0] ?? '',
    said: () => said,
    async start() {
      child = launch();
      await untilHealthy(child, apiUrl, () => said);
    },
    async kill() {
      if (!child) return;
      child.kill('SIGKILL');
      await ended(child);
    },
    async terminate() {
      if (!child) return null;
      child.kill('SIGTERM');
      await ended(child);
      return child.exitCode;
    },
    async remove() {
      if (child) {
        child.kill('SIGTERM');
        await ended(child);
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function untilHealthy(child: ChildProcess, apiUrl: string, said: () => string): Promise<void> {
  const clock = systemClock();
  const until = clock.monotonicMs() + startLimitMs;
  while (clock.monotonicMs() < until && child.exitCode === null) {
    const healthy = await fetch(`${apiUrl}/healthz`).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) return;
    await clock.sleep(50);
  }
  throw new Error(`the domain did not become healthy:\n${said()}`);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
