// The two pairs that are compared: two whole domains, and the floor. Each runs in processes of its own with a PostgreSQL each.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type NodeProcess, startNode } from './node-process.js';

/** Sends `count` bodies from one side to the other. `pids` are the roots of everything that works for it. */
export interface Pair {
  name: 'hearth' | 'floor';
  pids: number[];
  queue(count: number): Promise<void>;
  drain(): Promise<{ exchangesMs: number[] }>;
  singles(given: { workers: number; count: number }): Promise<{ latenciesMs: number[] }>;
  stop(): Promise<void>;
}

export interface DomainPair extends Pair {
  alpha: NodeProcess;
  beta: NodeProcess;
}

const people = 16;
const queueWorkers = 32;
// With its JSON a body of about 2 KiB, and nothing that a database could squeeze.
const text = randomBytes(1_515).toString('base64url');
const body = JSON.stringify({ text });

interface Started {
  fingerprint: string;
}

export async function startDomains(directory: string): Promise<DomainPair> {
  const alpha = startNode('./domain-node.js', 'alpha');
  const beta = startNode('./domain-node.js', 'beta');
  const ports = { 'alpha.test': await freePort(), 'beta.test': await freePort() };
  const resolve = Object.entries(ports).map(([domain, port]) => `${domain}=http://127.0.0.1:${port}`);
  const [first, second] = await Promise.all(
    (
      [
        [alpha, 'alpha.test'],
        [beta, 'beta.test'],
      ] as const
    ).map(([node, domain]) =>
      node.call<Started>('start', {
        domain,
        dataDirectory: made(directory, domain),
        federationPort: ports[domain],
        resolve: resolve.filter((entry) => !entry.startsWith(domain)).join(','),
      }),
    ),
  );
  await alpha.call('pin', { domain: 'beta.test', fingerprint: second?.fingerprint });
  await beta.call('pin', { domain: 'alpha.test', fingerprint: first?.fingerprint });
  await alpha.call('addPeople', { count: people });
  const to = await beta.call<string[]>('addPeople', { count: people });
  const talk = { peer: 'beta.test', to, text };
  return {
    name: 'hearth',
    alpha,
    beta,
    pids: [alpha.pid, beta.pid],
    queue: (count) => alpha.call('queue', { ...talk, workers: queueWorkers, count }),
    drain: () => alpha.call('drain', talk),
    singles: (given) => alpha.call('singles', { ...talk, ...given }),
    stop: () => stopAll(alpha, beta),
  };
}

export async function startFloor(directory: string): Promise<Pair> {
  const sender = startNode('./floor.js', 'floor-sender');
  const receiver = startNode('./floor.js', 'floor-receiver');
  type Key = { publicKey: string; port: number };
  const [from, to] = await Promise.all([
    sender.call<Key>('start', { dataDirectory: made(directory, 'floor-sender'), listen: false }),
    receiver.call<Key>('start', { dataDirectory: made(directory, 'floor-receiver'), listen: true }),
  ]);
  await sender.call('know', to);
  await receiver.call('know', from);
  return {
    name: 'floor',
    pids: [sender.pid, receiver.pid],
    queue: (count) => sender.call('queue', { count, body }),
    drain: () => sender.call('drain'),
    singles: (given) => sender.call('singles', { ...given, body }),
    stop: () => stopAll(sender, receiver),
  };
}

export function made(directory: string, name: string): string {
  const path = join(directory, name);
  mkdirSync(path, { recursive: true, mode: 0o711 });
  return path;
}

async function stopAll(...nodes: NodeProcess[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.stop()));
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
