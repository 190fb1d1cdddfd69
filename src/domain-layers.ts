// Puts the layers together from the bottom up: home, then federation and the Foundation, each plugged into the ports below.
import { createHttpEffectAdapter, httpPostAction } from './adapters/http-effect/index.js';
import type { Config } from './config.js';
import type { DomainDatabase } from './domain-database.js';
import { acceptTogether, createPeers, type Gateway, interactionAdapter, pinDomain } from './federation/index.js';
import {
  createFoundation,
  createRuntimeRegistry,
  type EffectAdapters,
  type FoundationParts,
  scheduleAdapter,
} from './foundation/index.js';
import {
  type DomainRecord,
  domainFingerprint,
  ensureOperator,
  grantAuthority,
  homeAgentDirectory,
  homePlacements,
  type KeyCustody,
  type OperatorMade,
  openDomain,
  openKeyCustody,
  principalCertifier,
  readDomain,
} from './home/index.js';
import {
  type Clock,
  createPeerHttp,
  createWakeups,
  type Database,
  type Log,
  type PeerHttp,
  type Random,
  roomLog,
  type Wakeups,
} from './platform/index.js';
import { toBase64url } from './protocol/index.js';
import { scriptedRuntime } from './runtimes/scripted/index.js';

/** The ports at which faults may be injected from outside: what is stored, what is signed, what leaves. */
export interface InterposedPorts {
  database: Database;
  custody: KeyCustody;
  peerHttp: PeerHttp;
  postmasterPid: () => number | undefined;
}

export type Interpose = (ports: InterposedPorts) => InterposedPorts;

export interface ComposeLayers {
  config: Config;
  store: DomainDatabase;
  clock: Clock;
  random: Random;
  log: Log;
  announce?: (announcement: { kind: 'founding' } | { kind: 'operator'; operator: OperatorMade }) => void;
  interpose?: Interpose;
  /** The operator's token was lost: a new one is issued at this start, and the old one ends. */
  newOperatorToken?: boolean;
}

export interface ComposedLayers {
  gateway: Gateway;
  foundation: FoundationParts;
  /** Where requests to this domain itself go. */
  dialOwnDoorAt(origin: string): void;
  close(): Promise<void>;
}

export async function composeLayers(options: ComposeLayers): Promise<ComposedLayers> {
  const { config, clock, random, log } = options;
  const resolve = new Map(config.resolve);
  // Before any key is made, also the one that encrypts the others (BR-78).
  if (!(await readDomain(options.store.database.sql))) options.announce?.({ kind: 'founding' });
  const ports = await openPorts(options, resolve);
  const domain = await openHome(options, ports);
  // This process, to others on the same database; a new one at every start, so that what died with the last one lapses.
  const instance = `host_${toBase64url(random.bytes(12))}`;
  const wakeups = createWakeups({ clock, database: ports.database, instance, log: roomLog(log, 'wakeups') });
  const common = { db: ports.database, clock, random, wakeups };
  const parts = {
    ...common,
    domain,
    instance,
    log: roomLog(log, 'federation'),
    http: ports.peerHttp,
    custody: ports.custody,
    certifier: principalCertifier({ ...common, domain, custody: ports.custody }),
    gatewayUrl: config.publicUrl,
    peers: createPeers({ ...common, http: ports.peerHttp, log: roomLog(log, 'peers') }),
  };
  const gateway: Gateway = { ...parts, accepts: acceptTogether(parts) };
  await pinDomain(gateway.peers, { domain: domain.name, fingerprint: await domainFingerprint(ports.database.sql) });
  return {
    gateway,
    foundation: composeFoundation(config, gateway, roomLog(log, 'foundation')),
    dialOwnDoorAt(origin) {
      resolve.set(domain.name, origin);
      resolve.set(new URL(config.publicUrl).hostname, origin);
    },
    close: () => closePorts(wakeups, ports.peerHttp),
  };
}

async function openPorts(
  { config, store, clock, random, interpose }: ComposeLayers,
  resolve: Map<string, string>,
): Promise<InterposedPorts> {
  const custody = await openKeyCustody({
    sql: store.database.sql,
    file: config.keyEncryptionKeyFile,
    makeIfMissing: config.keyEncryptionKeyIsDefault,
    random,
  });
  const peerHttp = createPeerHttp({ resolve, clock, allowOrigins: config.effectOrigins });
  const ports = { database: store.database, custody, peerHttp, postmasterPid: store.postmasterPid };
  return interpose ? interpose(ports) : ports;
}

async function openHome(
  { config, clock, random, announce, newOperatorToken }: ComposeLayers,
  { database, custody }: InterposedPorts,
): Promise<DomainRecord> {
  const domain = await openDomain({ db: database, custody, name: config.domain, random });
  const operator = await ensureOperator(
    { db: database, custody, domain, clock, random },
    { replace: newOperatorToken === true },
  );
  if (operator) announce?.({ kind: 'operator', operator });
  return domain;
}

function composeFoundation(config: Config, gateway: Gateway, log: Log): FoundationParts {
  const directory = homeAgentDirectory();
  return createFoundation({
    ...gateway,
    log,
    holder: gateway.instance,
    directory,
    placements: homePlacements(gateway),
    authority: grantAuthority(directory),
    adapters: effectAdapters(config, gateway),
    runtimes: createRuntimeRegistry([scriptedRuntime()]),
  });
}

function effectAdapters(config: Config, gateway: Gateway): EffectAdapters {
  const interactions = interactionAdapter(gateway);
  const schedules = scheduleAdapter(gateway);
  const http = createHttpEffectAdapter({ http: gateway.http, origins: config.effectOrigins });
  return {
    forAction(action) {
      if (action === httpPostAction) return http;
      if (action === 'schedule.set' || action === 'schedule.cancel') return schedules;
      return action.startsWith('interaction.') ? interactions : undefined;
    },
  };
}

async function closePorts(wakeups: Wakeups, peerHttp: PeerHttp): Promise<void> {
  await wakeups.close();
  await peerHttp.close();
}
