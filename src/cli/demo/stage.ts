/** The stage of the demo: two domain processes, the outside world, and a look into both databases; all of it temporary. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createLog, type Database, embeddedTarget, openDatabase } from '../../platform/index.js';
import type { Victim } from './chaos-plan.js';
import { type CountingServer, startCountingServer } from './counting-server.js';
import { type DomainProcess, startDomainProcess } from './domain-process.js';

export interface Stage {
  alpha: DomainProcess;
  beta: DomainProcess;
  outside: CountingServer;
  databases: { alpha: Database; beta: Database };
  directory: string;
  /** Stops everything; the directory with the domains' data and logs is removed unless it is to be kept. */
  clear(options: { keep: boolean }): Promise<void>;
}

export async function setStage(options: { clock: Clock; chaos: boolean }): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'hearth-demo-'));
  // Started as root, PostgreSQL runs as another user, who must be able to pass through.
  await chmod(directory, 0o711);
  const outside = await startCountingServer();
  const [alphaDoor, alphaApi, betaDoor, betaApi] = await freePorts(4);
  const started: DomainProcess[] = [];
  const start = async (domain: Victim, ports: [number, number], peer: { domain: Victim; federationPort: number }) => {
    const [federationPort, apiPort] = ports;
    const common = { directory, effectOrigin: outside.origin, chaos: options.chaos, clock: options.clock };
    const process = await startDomainProcess({ ...common, domain, federationPort, apiPort, peer });
    started.push(process);
    return process;
  };
  const databases: Database[] = [];
  const clear = async ({ keep }: { keep: boolean }) => {
    await Promise.all(databases.map((database) => database.close()));
    await Promise.all(started.map((process) => process.stop()));
    await outside.close();
    if (!keep) await rm(directory, { recursive: true, force: true });
  };
  try {
    const [alpha, beta] = await Promise.all([
      start('alpha.test', [alphaDoor, alphaApi], { domain: 'beta.test', federationPort: betaDoor }),
      start('beta.test', [betaDoor, betaApi], { domain: 'alpha.test', federationPort: alphaDoor }),
    ]);
    const witnesses = { alpha: look(alpha, options.clock), beta: look(beta, options.clock) };
    databases.push(witnesses.alpha, witnesses.beta);
    return { alpha, beta, outside, databases: witnesses, directory, clear };
  } catch (error) {
    await clear({ keep: true });
    throw error;
  }
}

function look(domain: DomainProcess, clock: Clock): Database {
  return openDatabase({
    target: embeddedTarget(domain.dataDirectory),
    applicationName: 'hearth-demo',
    maxConnections: 1,
    clock,
    log: createLog({ level: 'silent' }),
  });
}

/** Ports that were free a moment ago, held together so that they differ. */
async function freePorts(count: 4): Promise<[number, number, number, number]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(0, '127.0.0.1', resolve);
      });
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  const [first, second, third, fourth] = ports;
  if (!first || !second || !third || !fourth) throw new Error('no free ports');
  return [first, second, third, fourth];
}
