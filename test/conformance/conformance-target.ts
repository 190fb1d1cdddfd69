// A real domain with the documented set-up of the suite, for as many played origin domains as a test needs.
import { createServer } from 'node:net';
import { type Identity, identityFrom } from '../../conformance/peer/identity.js';
import type { PlayedDomain } from '../../conformance/peer/played-domain.js';
import { readRequirements } from '../../conformance/requirements.js';
import { type Run, runConformance } from '../../conformance/run.js';
import { scenarios } from '../../conformance/scenarios/index.js';
import { answererScript, resolveSetting } from '../../conformance/setup.js';
import { startTestDomain, type TestDomain } from '../support/test-domain.js';

export interface ConformanceTarget {
  domain: TestDomain;
  /** Plays the suite against the domain, or against what stands before it. */
  play(options?: Play): Promise<Run>;
  /** Enough of a played domain to answer in its name. */
  played(name: string): Pick<PlayedDomain, 'name' | 'key' | 'incarnation'>;
  /** Where the suite listens, and what the domain dials to reach it. */
  listen: { host: string; port: number };
  stop(): Promise<void>;
}

interface Play {
  only?: readonly string[];
  target?: string;
  privateUrl?: string;
  originDomain?: string;
  withSetup?: boolean;
}

export interface StartTarget {
  /** Dialled by the domain instead of the suite's own port: a layer between the two. */
  dialled?: { host: string; port: number };
  originDomains?: readonly string[];
}

const originDomain = 'conformance.test';
const identity: Identity = identityFrom('a fixed secret for tests');

export async function startConformanceTarget({ dialled, originDomains = [originDomain] }: StartTarget = {}) {
  const listen = { host: '127.0.0.1', port: await freePort() };
  const resolve = originDomains
    .map((name) => resolveSetting({ originDomain: name, listen: dialled ?? listen }))
    .join(',');
  const domain = await startTestDomain({ env: { HEARTH_RESOLVE: resolve } });
  await setUp(domain, originDomains);
  const target: ConformanceTarget = {
    domain,
    listen,
    played(name) {
      const key = identity.keyOf(name, 'domain');
      return { name, key, incarnation: `inc_${key.kid}` };
    },
    play: (options = {}) => play(domain, { listen, ...options }),
    stop: () => domain.stop(),
  };
  return target;
}

async function setUp(domain: TestDomain, originDomains: readonly string[]): Promise<void> {
  const { api } = domain;
  const agent = (name: string, config: object, grants: object[] = []) =>
    api('POST', '/admin/v1/agents', { body: { name, runtime: { id: 'scripted', config }, grants } });
  const grants = originDomains.map((name) => ({ action: 'interaction.*', target: `agent://${name}/*` }));
  const made = [
    await agent('conformance-quiet', { rules: [] }),
    await agent('conformance-answerer', answererScript, grants),
    ...(await Promise.all(
      originDomains.map((name) => {
        const fingerprint = identity.keyOf(name, 'domain').kid;
        return api('POST', '/admin/v1/peers', { body: { domain: name, fingerprint } });
      }),
    )),
  ];
  for (const { status, body } of made)
    if (status !== 201)
      throw new Error(`${JSON.stringify(body)}\n${domain.logLines.filter((l) => l.includes('rror')).join('')}`);
}

function play(domain: TestDomain, options: Play & { listen: { host: string; port: number } }): Promise<Run> {
  const { withSetup = true } = options;
  return runConformance({
    target: options.target ?? domain.running.urls.federation,
    domain: undefined,
    listen: options.listen,
    originDomain: options.originDomain ?? originDomain,
    privateUrl: withSetup ? (options.privateUrl ?? domain.running.urls.api) : undefined,
    token: withSetup ? domain.operatorToken : undefined,
    identity,
    scenarios,
    requirements: readRequirements(),
    expected: new Set(),
    only: options.only ?? [],
    timeoutMs: 240_000,
    progress: () => undefined,
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
