// One process of a domain, from the built program: its life by signals, its door, and a wall clock that can be moved.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/platform/index.js';
import type { JsonObject } from '../../src/protocol/index.js';

const program = fileURLToPath(new URL('../../dist/cli/hearth.js', import.meta.url));
const clock = systemClock();
const startLimitMs = 40_000;
const requestLimitMs = 3_000;

export interface DomainProcess {
  name: string;
  start(): Promise<void>;
  /** SIGKILL: nothing of it can end in order. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code once it has drained. `draining` is called as soon as it says that it stops. */
  terminate(draining?: () => Promise<void>): Promise<number | null>;
  /** SIGSTOP and SIGCONT. */
  pause(): void;
  proceed(): void;
  /** Started, not paused, not told to end. */
  isUp(): boolean;
  /** As the database knows its connections: name and count of starts. */
  startName(): string;
  /** Only of a process with a wall clock of its own. */
  moveWallClock(ms: number): Promise<void>;
  request(request: DoorRequest): Promise<{ status: number; body: JsonObject }>;
  operatorToken(): string;
  said(): string;
}

interface DoorRequest {
  method: string;
  path: string;
  token: string;
  body?: object | undefined;
}

export interface DomainProcessOptions {
  name: string;
  dataDirectory: string;
  keyFile?: string;
  databaseUrl: string;
  federationPort: number;
  apiPort: number;
  effectOrigin: string;
  wallClockMs?: number | undefined;
}

export function domainProcess(options: DomainProcessOptions): DomainProcess {
  if (!existsSync(program)) throw new Error('build first: npm run build');
  const { name, apiPort } = options;
  let child: ChildProcess | undefined;
  let starts = 0;
  let said = '';
  let up = false;

  return {
    name,
    async start() {
      starts += 1;
      child = launch(options, `${name}.${starts}`);
      for (const output of [child.stdout, child.stderr]) output?.on('data', (chunk) => (said += String(chunk)));
      await untilHealthy(child, apiPort, () => said);
      up = true;
    },
    async kill() {
      up = false;
      child?.kill('SIGKILL');
      await ended(child);
    },
    async terminate(draining) {
      up = false;
      const [own, before] = [child, said.length];
      own?.kill('SIGTERM');
      if (draining) {
        while (!said.slice(before).includes('Stopping') && own?.exitCode === null) await clock.sleep(5);
        await draining();
      }
      await ended(own);
      return own?.exitCode ?? null;
    },
    pause() {
      up = false;
      child?.kill('SIGSTOP');
    },
    proceed() {
      child?.kill('SIGCONT');
      up = true;
    },
    isUp: () => up,
    startName: () => `${name}.${starts}`,
    async moveWallClock(ms) {
      await new Promise<void>((resolve, reject) => {
        child?.once('message', () => resolve());
        child?.send(ms, (error) => error && reject(error));
      });
    },
    request: ({ method, path, token, body }) =>
      requestDoor(`http://127.0.0.1:${apiPort}${path}`, { method, token, body }),
    operatorToken: () => /hearth_operator_[A-Za-z0-9_-]{43}/.exec(said)?.[0] ?? '',
    said: () => said,
  };
}

function launch(options: DomainProcessOptions, startName: string): ChildProcess {
  const { dataDirectory, keyFile, databaseUrl, wallClockMs } = options;
  return spawn(process.execPath, [program, 'start'], {
    env: {
      PATH: process.env.PATH,
      HEARTH_DOMAIN: 'alpha.test',
      HEARTH_DATA_DIRECTORY: dataDirectory,
      ...(keyFile === undefined ? {} : { HEARTH_KEY_ENCRYPTION_KEY_FILE: keyFile }),
      DATABASE_URL: `${databaseUrl}&application_name=${startName}`,
      HEARTH_FEDERATION_PORT: String(options.federationPort),
      HEARTH_API_PORT: String(options.apiPort),
      HEARTH_EFFECT_ORIGINS: options.effectOrigin,
      HEARTH_LOG_LEVEL: 'warn',
      ...(wallClockMs === undefined ? {} : { NODE_OPTIONS: `--import=${movedDate(wallClockMs)}` }),
    },
    stdio: ['ignore', 'pipe', 'pipe', ...(wallClockMs === undefined ? [] : ['ipc' as const])],
  });
}

/** A module that lays the child's wall clock off and moves it when told; what is monotonic stays as it is. */
function movedDate(startMs: number): string {
  const source = `
    let offset = ${startMs};
    const RealDate = Date;
    const now = () => RealDate.now() + offset;
    globalThis.Date = new Proxy(RealDate, {
      construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
      apply: () => new RealDate(now()).toString(),
      get: (target, member) => (member === 'now' ? now : Reflect.get(target, member)),
    });
    process.on('message', (ms) => {
      offset = ms;
      process.send('moved');
    });
    process.channel.unref();`;
  return `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`;
}

async function requestDoor(
  url: string,
  { method, token, body }: Omit<DoorRequest, 'path'>,
): Promise<{ status: number; body: JsonObject }> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestLimitMs),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

async function untilHealthy(child: ChildProcess, apiPort: number, said: () => string): Promise<void> {
  const until = clock.monotonicMs() + startLimitMs;
  while (clock.monotonicMs() < until && child.exitCode === null) {
    const healthy = await fetch(`http://127.0.0.1:${apiPort}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (healthy) return;
    await clock.sleep(25);
  }
  throw new Error(`the process did not become healthy:\n${said()}`);
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => child.once('exit', () => resolve()));
}
