// Several real processes of one domain on one PostgreSQL: to be killed, stopped, drained, and looked at from the database.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { type Database, openDatabase, startEmbeddedPostgres, systemClock } from '../../src/platform/index.js';
import { testLog } from '../support/database.js';
import { freePort } from '../support/domain-child.js';
import { type ApiAnswer, callDoor } from '../support/test-domain.js';

const program = fileURLToPath(new URL('../../dist/cli/hearth.js', import.meta.url));
const skewedClock = new URL('./skewed-clock.mjs', import.meta.url).href;
const startLimitMs = 40_000;

export interface Host {
  apiUrl: string;
  pid: number;
  /** Its name among the hosts: the holder of its placements and runs. */
  instance: string;
  api(method: string, path: string, body?: object): Promise<ApiAnswer>;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or undefined after a kill. */
  ended(): Promise<number | undefined>;
  said(): string;
}

export interface StartHost {
  skewMs?: number;
  stepsMs?: readonly number[];
}

export interface Hosts {
  db: Database;
  start(options?: StartHost): Promise<Host>;
  /** Kills what still runs, and removes the database. */
  stop(): Promise<void>;
}

export async function openHosts({ effectOrigin }: { effectOrigin?: string } = {}): Promise<Hosts> {
  if (!existsSync(program)) throw new Error('build first: npm run build');
  const directory = await mkdtemp(join(tmpdir(), 'hearth-hosts-'));
  // So that, as root, the server's own user may pass.
  await chmod(directory, 0o711);
  const clock = systemClock();
  const log = testLog();
  const postgres = await startEmbeddedPostgres({ dataDirectory: join(directory, 'database'), clock, log });
  const { target } = postgres;
  if (target.kind !== 'socket') throw new Error('the embedded server listens on a socket');
  const { user, database, directory: socket } = target;
  const url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(socket)}`;
  const db = openDatabase({ target, applicationName: 'hearth test', maxConnections: 4, clock, log });
  const children = new Set<ChildProcess>();
  let token = '';

  async function start({ skewMs = 0, stepsMs = [] }: StartHost = {}): Promise<Host> {
    const apiPort = await freePort();
    const child = spawn(process.execPath, ['--import', skewedClock, program, 'start'], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: url,
        HEARTH_DOMAIN: 'alpha.test',
        HEARTH_DATA_DIRECTORY: join(directory, 'shared'),
        HEARTH_FEDERATION_PORT: '0',
        HEARTH_API_PORT: String(apiPort),
        HEARTH_LOG_LEVEL: 'info',
        TEST_CLOCK_SKEW_MS: String(skewMs),
        TEST_CLOCK_STEPS_MS: stepsMs.join(','),
        ...(effectOrigin === undefined ? {} : { HEARTH_EFFECT_ORIGINS: effectOrigin }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    let said = '';
    for (const output of [child.stdout, child.stderr])
      output.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    const apiUrl = `http://127.0.0.1:${apiPort}`;
    const instanceSaid = () => /"instance":"(host_[A-Za-z0-9_-]+)"/.exec(said)?.[1] ?? '';
    await vi.waitUntil(
      () => {
        if (child.exitCode !== null) throw new Error(`the process ended:\n${said}`);
        return instanceSaid();
      },
      { timeout: startLimitMs, interval: 20 },
    );
    token ||= /hearth_operator_[A-Za-z0-9_-]{43}/.exec(said)?.[0] ?? '';
    return {
      apiUrl,
      pid: child.pid ?? 0,
      instance: instanceSaid(),
      api: (method, path, body) => callDoor(method, `${apiUrl}${path}`, { token, ...(body ? { body } : {}) }),
      signal: (name) => void child.kill(name),
      ended: () => endOf(child),
      said: () => said,
    };
  }

  return {
    db,
    start,
    async stop() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all([...children].map(endOf));
      await db.close();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function endOf(child: ChildProcess): Promise<number | undefined> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode ?? undefined);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? undefined)));
}
