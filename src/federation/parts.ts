/** What a running federation is made of. Made once at the composition root; each journey is handed it as `gateway`. */
import type { Certifier, DomainRecord, KeyCustody } from '../home/index.js';
import type { Clock, Database, Log, PeerHttp, Random, Wakeups } from '../platform/index.js';
import { type HomeTag, isHomeTag, type Mint } from '../protocol/index.js';
import type { SharedAccepts } from './gateway/index.js';
import type { Peers } from './peer/index.js';

export interface Gateway {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly wakeups: Wakeups;
  readonly http: PeerHttp;
  readonly custody: KeyCustody;
  readonly certifier: Certifier;
  readonly domain: DomainRecord;
  /** The advertised gateway, without a slash at the end: what requests are signed over, whatever is dialled. */
  readonly gatewayUrl: string;
  readonly peers: Peers;
  /** This process, in claims; a new one at every start. */
  readonly instance: string;
  /** Inbound transactions that come at the same time are accepted in one commit. */
  readonly accepts: SharedAccepts;
}

/** What waits on which wakeup channel; all of them are hints. */
export const federationChannels = {
  outbox: 'outbox',
  peers: 'peers',
  answers: 'answers',
  sweep: 'sweep',
} as const;

export function mintOf(gateway: Pick<Gateway, 'clock' | 'random'>): Mint {
  return { now: gateway.clock.now(), random: (bytes) => gateway.random.bytes(bytes) };
}

/** Transactions and their receipts belong to the domain and to no principal; this stands where a home would. */
export const domainTag: HomeTag = tagOf('domain');

function tagOf(text: string): HomeTag {
  if (!isHomeTag(text)) throw new TypeError(`not a home tag: ${text}`);
  return text;
}
