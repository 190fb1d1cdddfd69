// Several domains in one process on real PostgreSQL, joined by a network that hands requests over and can lose them.

import {
  acceptTogether,
  createPeers,
  type Gateway,
  interactionAdapter,
  pinDomain,
  pinPeer,
  readTransitionLog,
  receiveTransaction,
  sendTransaction,
} from '../../src/federation/index.js';
import { type EffectGateway, isRefusal, performEffect, shareCommits } from '../../src/foundation/index.js';
import { leaseClock } from '../../src/foundation/placement/index.js';
import {
  type Certifier,
  currentBundle,
  domainFingerprint,
  homePlacements,
  type Principal,
  principalCertifier,
} from '../../src/home/index.js';
import {
  createWakeups,
  PeerError,
  type PeerHttp,
  type PeerRequest,
  type PeerResponse,
} from '../../src/platform/index.js';
import {
  DISCOVERY_PATH,
  type Domain,
  describeDomain,
  type JsonObject,
  Problem,
  toUtf8,
} from '../../src/protocol/index.js';
import { addAgent, addPrincipal, domainOf, type HomeFixture, openHome } from '../home/home-fixture.js';
import { testLog } from '../support/database.js';

/** What happens to one request: `drop` before it arrives, `lose` the answer after it was handled, or a canned answer. */
type Fault = 'drop' | 'lose' | PeerResponse | undefined;

export interface Network {
  http: PeerHttp;
  requests: PeerRequest[];
  fault: (request: PeerRequest) => Fault | Promise<Fault>;
  handlers: Map<string, Handler>;
}

type Handler = (request: PeerRequest) => Promise<PeerResponse>;

export interface TestDomain {
  name: Domain;
  home: HomeFixture;
  gateway: Gateway;
  effects: EffectGateway;
  fingerprint: string;
  agents: Record<string, Principal>;
}

export interface World {
  network: Network;
  domains: TestDomain[];
  close(): Promise<void>;
}

export async function openWorld(names: readonly string[]): Promise<World> {
  const network = createNetwork();
  const domains: TestDomain[] = [];
  for (const name of names) domains.push(await openTestDomain(network, name));
  return {
    network,
    domains,
    async close() {
      for (const domain of domains) await domain.gateway.wakeups.close();
      for (const domain of domains) await domain.home.close();
    },
  };
}

/** Each of the two pins the other by its fingerprint. */
export async function befriend(one: TestDomain, other: TestDomain): Promise<void> {
  await pinPeer(one.gateway.peers, { domain: other.name, fingerprint: other.fingerprint, actor: 'test' });
  await pinPeer(other.gateway.peers, { domain: one.name, fingerprint: one.fingerprint, actor: 'test' });
}

function createNetwork(): Network {
  const network: Network = {
    requests: [],
    handlers: new Map(),
    fault: () => undefined,
    http: {
      async request(request) {
        network.requests.push(request);
        const fault = await network.fault(request);
        if (typeof fault === 'object') return fault;
        const handler = network.handlers.get(new URL(request.url).hostname);
        if (fault === 'drop' || !handler) throw unreachable(request);
        const answer = await handler(request);
        if (fault === 'lose') throw unreachable(request);
        return answer;
      },
      close: async () => undefined,
    },
  };
  return network;
}

function unreachable({ url }: PeerRequest): PeerError {
  return new PeerError('unreachable', `${url} cannot be reached`, { retryable: true });
}

async function openTestDomain(network: Network, name: string): Promise<TestDomain> {
  const home = await openHome(name);
  const gateway = gatewayOf(network, home);
  const fingerprint = await domainFingerprint(home.db.sql);
  await pinDomain(gateway.peers, { domain: gateway.domain.name, fingerprint });
  network.handlers.set(name, (request) => answer(gateway, request));
  const agents: Record<string, Principal> = {};
  for (const agent of ['ada', 'bob']) agents[agent] = await addAgent(home, agent);
  agents.hana = await addPrincipal(home, 'hana');
  return { name: domainOf(name), home, gateway, effects: effectsOf(gateway), fingerprint, agents };
}

/** Another process of the same domain has another gateway over the same home. */
export function gatewayOf(network: Network, home: HomeFixture): Gateway {
  const { db, clock, random, custody, domain } = home;
  const log = testLog();
  const certifier: Certifier = principalCertifier({ db, custody, domain, clock });
  const instance = `test-${Buffer.from(random.bytes(6)).toString('hex')}`;
  const wakeups = createWakeups({ clock, log, instance });
  const peers = createPeers({ db, http: network.http, clock, log });
  const gatewayUrl = `https://${domain.name}`;
  const { http } = network;
  const parts = { db, clock, random, log, wakeups, http, custody, certifier, domain, gatewayUrl, peers, instance };
  return { ...parts, accepts: acceptTogether(parts) };
}

function effectsOf(gateway: Gateway): EffectGateway {
  const { db, clock, random, log, wakeups } = gateway;
  const adapter = interactionAdapter(gateway);
  const alone: EffectGateway = {
    db,
    clock,
    random,
    log,
    wakeups,
    placements: homePlacements({ clock, random }),
    authority: { authorize: async () => ({ allowed: true, policyId: 'test', reason: 'allowed' }) },
    adapters: { forAction: () => adapter },
  };
  return { ...alone, commits: shareCommits(alone) };
}

async function answer(gateway: Gateway, request: PeerRequest): Promise<PeerResponse> {
  try {
    return await handle(gateway, request);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return response(error.status, toUtf8(JSON.stringify({ code: error.code, detail: error.detail })));
  }
}

async function handle(gateway: Gateway, request: PeerRequest): Promise<PeerResponse> {
  const url = new URL(request.url);
  const path = `${url.pathname}${url.search}`;
  if (path === DISCOVERY_PATH) {
    const facts = { domain: gateway.domain.name, gateway: gateway.gatewayUrl, first_contact: 'quarantine' as const };
    return response(200, toUtf8(JSON.stringify(describeDomain({ ...facts, software: 'test', contact: '' }))));
  }
  if (path === '/federation/v1/bundle') {
    const { db, custody, domain } = gateway;
    return response(200, toUtf8((await currentBundle({ db, custody, domain })).token));
  }
  const headers = Object.entries(request.headers);
  const body = request.body ?? new Uint8Array();
  const [, kind, id = ''] = /^\/federation\/v1\/(transactions|commitments)\/([^/]+)/.exec(path) ?? [];
  if (kind === 'transactions') {
    return response(200, await receiveTransaction(gateway, { method: 'PUT', path, headers, body, transactionId: id }));
  }
  if (kind === 'commitments') {
    const door = { method: 'GET' as const, path, headers, body };
    const log = await readTransitionLog(gateway, door, { commitmentId: id, after: 0 });
    return response(200, toUtf8(JSON.stringify(log)));
  }
  return response(404, new Uint8Array());
}

export function response(status: number, body: Uint8Array): PeerResponse {
  return { status, headers: {}, body };
}

export interface Say {
  from: Principal;
  to: Principal | string;
  type: string;
  input?: JsonObject;
  id?: string;
}

let proposals = 0;

/** A person or agent without a run proposes an interaction; answers the effect's result, or throws why not. */
export async function say(
  domain: TestDomain,
  { from, to, type, input = {}, id }: Say,
): Promise<Record<string, string>> {
  proposals += 1;
  const result = await performEffect(domain.effects, {
    proposalScope: `principal:${from.home}`,
    proposalId: id ?? `say-${proposals}`,
    actor: { home: from.home, agent: from.address },
    tenant: from.tenant,
    action: `interaction.${type}`,
    target: typeof to === 'string' ? to : to.address,
    input,
  });
  if (isRefusal(result)) throw new Error(`refused: ${result.reason}`);
  if (result.status !== 'succeeded') throw new Error(`${result.status}: ${result.reasonCode}`);
  return result.result as Record<string, string>;
}

/** Delivers what is queued until nothing more goes out. */
export async function deliver(from: TestDomain, to: Domain): Promise<void> {
  const { signal } = new AbortController();
  while ((await sendTransaction(from.gateway, to, signal)) === 'sent');
}

export function agent(domain: TestDomain, name: string): Principal {
  const found = domain.agents[name];
  if (!found) throw new Error(`${domain.name} has no ${name}`);
  return found;
}

/** A host of the domain that lives, so that lease time goes on. */
export function living({ home: { db, clock } }: TestDomain): { stop(): Promise<void> } {
  const { beat } = leaseClock({ db, clock });
  const stopped = new AbortController();
  const loop = async () => {
    while (!stopped.signal.aborted) {
      await beat();
      await clock.sleep(50, stopped.signal);
    }
  };
  const ended = loop();
  return {
    stop() {
      stopped.abort();
      return ended;
    },
  };
}
