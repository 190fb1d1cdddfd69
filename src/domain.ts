/**
 * The composition root: one Federation Domain out of its parts. Layers meet here and nowhere else: home and federation plug
 * into the Foundation's ports, the doors and the clockwork are handed what they work with.
 */
import type { Config } from './config.js';
import { type DomainDatabase, openDomainDatabase } from './domain-database.js';
import { type ComposedLayers, composeLayers, type Interpose } from './domain-layers.js';
import { type DomainWorkers, startWorkers } from './domain-workers.js';
import { authenticate, domainFingerprint, type OperatorMade, openWebhookSource, readCursorKey } from './home/index.js';
import {
  createCursors,
  type DoorUrls,
  federationEndpoints,
  type Health,
  type Listener,
  openInputDoor,
  openListener,
  privateEndpoints,
} from './http/index.js';
import { databaseAnswers, type FollowingClock, type Log, type Random, roomLog } from './platform/index.js';

export type { InterposedPorts } from './domain-layers.js';

export interface StartDomain {
  config: Config;
  clock: FollowingClock;
  random: Random;
  log: Log;
  /** Told what a person at the terminal should see, as soon as it is so. */
  announce?: (announcement: Announcement) => void;
  /** Wraps the ports before anything uses them. */
  interpose?: Interpose;
  /** Issues the first operator a new token, and ends the one that was lost. */
  newOperatorToken?: boolean;
  /** An open, migrated database to use instead of the configured one; it is closed with the domain. */
  store?: DomainDatabase;
}

/** What a running domain shows of itself. */
export interface Ready {
  urls: DoorUrls;
  fingerprint: string;
  databaseWhere: string;
}

export type Announcement =
  /** The first start, before the first key is made (BR-78). */
  | { kind: 'founding' }
  /** The first operator's token, shown once. */
  | { kind: 'operator'; operator: OperatorMade }
  | ({ kind: 'ready' } & Ready);

export interface RunningDomain extends Ready {
  layers: ComposedLayers;
  /** Drains and closes everything, the postmaster last. */
  stop(): Promise<void>;
}

const runGraceMs = 10_000;
const requestGraceMs = 5_000;
const software = 'hearth/0.1.0';

export async function startDomain(options: StartDomain): Promise<RunningDomain> {
  const { config, clock, log } = options;
  const store = options.store ?? (await openDomainDatabase({ config, clock, log: roomLog(log, 'database') }));
  const parts: Started = {
    store,
    layers: undefined,
    workers: undefined,
    listeners: [],
    closing: new AbortController(),
    health: 'starting',
  };
  try {
    const ready = await startParts(options, parts);
    options.announce?.({ kind: 'ready', ...ready });
    return { ...ready, layers: layersOf(parts), stop: () => stopParts(parts) };
  } catch (error) {
    await stopParts(parts);
    throw error;
  }
}

/** What has been started so far; a start that fails half-way stops what there is. */
interface Started {
  store: DomainDatabase;
  layers: ComposedLayers | undefined;
  workers: DomainWorkers | undefined;
  listeners: Listener[];
  closing: AbortController;
  health: 'starting' | 'ok' | 'draining';
}

async function startParts(options: StartDomain, parts: Started): Promise<Ready> {
  const { store } = parts;
  const layers = await composeLayers({ ...options, store });
  parts.layers = layers;
  const urls = await openDoors(options, parts, layers);
  // A domain is a peer of its own and dials its own door: no special path (and no DNS needed for it).
  layers.dialOwnDoorAt(dialable(urls.federation));
  parts.workers = startWorkers(layers);
  parts.health = 'ok';
  const fingerprint = await domainFingerprint(layers.gateway.db.sql);
  const { instance } = layers.gateway;
  roomLog(options.log, 'domain').info({ domain: options.config.domain, instance, ...urls }, 'the domain is running');
  return { urls, fingerprint, databaseWhere: store.where };
}

async function openDoors(options: StartDomain, parts: Started, layers: ComposedLayers): Promise<DoorUrls> {
  const { config } = options;
  const { gateway, foundation } = layers;
  const { db, custody } = gateway;
  const urls: DoorUrls = { gateway: config.publicUrl, federation: '', api: '' };
  const health: Health = {
    domain: config.domain,
    state: () => parts.health,
    databaseAnswers: () => databaseAnswers(db.sql),
  };
  const inputs = openInputDoor(gateway);
  const cursors = createCursors(await readCursorKey(db.sql));
  const common = { cursors, clock: options.clock, random: options.random, log: roomLog(options.log, 'http') };
  const federation = await openListener({
    ...common,
    door: 'federation',
    host: config.federationHost,
    port: config.federationPort,
    endpoints: federationEndpoints({
      gateway,
      inputs,
      software,
      health,
      findSource: (name) => openWebhookSource(db.sql, custody, name),
    }),
  });
  parts.listeners.push(federation);
  urls.federation = federation.url;
  const api = await openListener({
    ...common,
    door: 'private',
    host: config.apiHost,
    port: config.apiPort,
    endpoints: privateEndpoints({
      gateway,
      inputs,
      effects: foundation,
      runtimes: foundation.runtimes,
      urls: () => urls,
      health,
      closing: parts.closing.signal,
    }),
    authenticateToken: (token) => authenticate(db.sql, token),
  });
  parts.listeners.push(api);
  urls.api = api.url;
  return urls;
}

/** In the order in which nothing acknowledged is lost: accept no more, claim no more, give back, close, postmaster last. */
async function stopParts(parts: Started): Promise<void> {
  parts.health = 'draining';
  for (const listener of parts.listeners) listener.drain();
  parts.closing.abort();
  await parts.workers?.stop({ graceMs: runGraceMs });
  await Promise.all(parts.listeners.map((listener) => listener.close(requestGraceMs)));
  await parts.layers?.close();
  await parts.store.close();
}

function layersOf({ layers }: Started): ComposedLayers {
  if (!layers) throw new Error('the domain has no layers');
  return layers;
}

/** A door that listens on every address is dialled on loopback. */
function dialable(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const everywhere = hostname === '0.0.0.0' || hostname === '[::]';
  return `${protocol}//${everywhere ? '127.0.0.1' : hostname}:${port}`;
}
