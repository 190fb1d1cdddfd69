// A process of its own that starts the embedded PostgreSQL and holds it: something a test can kill. Runs the built code.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface SupervisorProcess {
  child: ChildProcess;
  /** Resolves with the postmaster's pid, or rejects with what the process said before it ended. */
  started: Promise<number>;
  ended: Promise<void>;
}

const platform = new URL('../../dist/platform/index.js', import.meta.url);

const program = `
  import { createLog, startEmbeddedPostgres, systemClock } from ${JSON.stringify(platform.href)};
  const stop = new AbortController();
  process.on('SIGTERM', () => stop.abort());
  const log = createLog({ level: 'silent' });
  const postgres = await startEmbeddedPostgres({ dataDirectory: process.argv[1], clock: systemClock(), log });
  process.stdout.write('started ' + postgres.pid() + '\\n');
  const held = setInterval(() => undefined, 1000);
  stop.signal.addEventListener('abort', async () => {
    await postgres.stop();
    clearInterval(held);
  });
`;

export function startSupervisorProcess(
  dataDirectory: string,
  identity: { uid?: number; gid?: number } = {},
): SupervisorProcess {
  if (!existsSync(fileURLToPath(platform))) throw new Error('these tests run the built code: "npm run build" first');
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, dataDirectory], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
    ...identity,
  });
  let output = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const started = new Promise<number>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      output += chunk.toString('utf8');
      const pid = /started (\d+)/.exec(output)?.[1];
      if (pid) resolve(Number(pid));
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    ended.then(() => reject(new Error(output)));
  });
  // Who only waits for the end has no use for the refusal.
  started.catch(() => undefined);
  return { child, started, ended };
}
