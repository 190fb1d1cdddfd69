// A measured process and the few words its parent says to it: one request, one answer, over the fork's own channel.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export type Handlers = Record<string, (given: never) => Promise<unknown>>;

export interface NodeProcess {
  pid: number;
  call<Answer>(method: string, given?: object): Promise<Answer>;
  stop(): Promise<void>;
}

/** `file` is relative to this folder. `CPU_PROFILES` names a folder for V8 profiles of every process. */
export function startNode(file: string, name: string): NodeProcess {
  const profiles = process.env.CPU_PROFILES;
  const profile = profiles ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name}.cpuprofile`] : [];
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [], {
    execArgv: ['--enable-source-maps', ...profile],
    serialization: 'advanced',
    env: { PATH: process.env.PATH },
  });
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  let last = 0;
  child.on('message', (message: { id: number; answer?: never; error?: string }) => {
    const caller = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error === undefined) caller?.resolve(message.answer as never);
    else caller?.reject(new Error(`${name}: ${message.error}`));
  });
  child.on('exit', (code) => {
    for (const caller of waiting.values()) caller.reject(new Error(`${name} ended with ${code}`));
    waiting.clear();
  });
  return {
    pid: child.pid ?? 0,
    call: (method, given = {}) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        child.send({ id: last, method, given });
      }),
    stop: () => stop(child),
  };
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.send({ id: 0, method: 'stop', given: {} });
  return ended;
}

/** The child's side: answers calls until it is told to stop. */
export function serve(handlers: Handlers & { stop(): Promise<void> }): void {
  process.on('message', (message: { id: number; method: string; given: never }) => {
    const handler = handlers[message.method];
    const work = handler ? handler(message.given) : Promise.reject(new Error(`no such method: ${message.method}`));
    work.then(
      (answer) => {
        if (message.method === 'stop') process.disconnect();
        else process.send?.({ id: message.id, answer });
      },
      (error: unknown) => {
        process.send?.({
          id: message.id,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        });
      },
    );
  });
  // A parent that died leaves nothing running.
  process.on('disconnect', () => void handlers.stop().catch(() => process.exit(1)));
}
