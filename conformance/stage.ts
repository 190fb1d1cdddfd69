// What every scenario stands on: the target, the played domains, and what of the documented set-up is there.
import { Mismatch } from './expect.js';
import type { Reply } from './peer/http-client.js';
import type { Identity } from './peer/identity.js';
import { type Listener, openListener } from './peer/listener.js';
import { sealEnvelope } from './peer/played-agent.js';
import { type PlayedDomain, playDomain } from './peer/played-domain.js';
import { openPrivateDoor, type PrivateDoor } from './peer/private-door.js';
import { findTarget, type Target } from './peer/target.js';
import type { Need } from './scenario.js';
import { textOf } from './wire/json.js';
import { eventually } from './wire/time.js';

export interface StageOptions {
  readonly target: string;
  readonly domain: string | undefined;
  readonly listen: { readonly host: string; readonly port: number };
  readonly originDomain: string;
  readonly privateUrl: string | undefined;
  readonly token: string | undefined;
  readonly identity: Identity;
}

export interface Stage {
  readonly target: Target;
  /** The played domain that the set-up pins. */
  readonly peer: PlayedDomain;
  /** Another played domain, `{name}.{origin domain}`: a stranger until it is pinned. */
  play(name: string): PlayedDomain;
  /** Has the target's operator pin a played domain. */
  pin(domain: PlayedDomain): Promise<void>;
  /** Does nothing, and answers every request with an acceptance and a report. */
  readonly quiet: string;
  readonly answerer: string;
  /** The target's operator, in whose name the suite speaks at the private door. */
  readonly operator: string;
  /** The private door; only scenarios that need it may ask for it. */
  readonly door: PrivateDoor;
  /** Why a need is not met; undefined when it is. */
  readonly missing: ReadonlyMap<Need, string>;
  close(): Promise<void>;
}

/** The names under the origin domain that scenarios play; the target has to be able to reach each of them. */
export const playedNames = [
  ...['stranger', 'flood', 'blocked', 'invited', 'silent'],
  ...['failing', 'crowded', 'refusing', 'parking', 'rejecting', 'endless', 'waiting-1', 'waiting-2'],
  ...numbered('document', 8),
  ...numbered('bundle', 18),
  ...numbered('change', 7),
  ...numbered('receipt', 10),
];

function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
}

export async function openStage(options: StageOptions): Promise<Stage> {
  const target = await findTarget({ url: options.target, domain: options.domain });
  const listener = await openListener(options.listen);
  const play = { identity: options.identity, listener, target };
  const played = new Map<string, PlayedDomain>();
  const domainOf = (name: string) => {
    const known = played.get(name) ?? playDomain(play, name);
    played.set(name, known);
    return known;
  };
  const peer = domainOf(options.originDomain);
  const door =
    options.privateUrl !== undefined && options.token !== undefined
      ? openPrivateDoor(options.privateUrl, options.token)
      : undefined;
  const stage: Stage = {
    target,
    peer,
    play(name) {
      if (!playedNames.includes(name)) throw new TypeError(`${name} is not among the played names`);
      return domainOf(`${name}.${options.originDomain}`);
    },
    pin: (domain) => pin(door ?? closedDoor, domain),
    quiet: `agent://${target.domain}/agents/conformance-quiet`,
    answerer: `agent://${target.domain}/agents/conformance-answerer`,
    operator: `human://${target.domain}/users/operator`,
    door: door ?? closedDoor,
    missing: new Map(),
    close: () => listener.close(),
  };
  return { ...stage, missing: await missingNeeds(stage, { listener, door }) };
}

const closedDoor: PrivateDoor = {
  url: '',
  token: '',
  ask: () => Promise.reject(new Mismatch('the private door is not known')),
};

async function pin(door: PrivateDoor, { name, fingerprint }: PlayedDomain): Promise<void> {
  const reply = await door.ask('POST', '/admin/v1/peers', { body: { domain: name, fingerprint } });
  if (reply.status !== 201) throw new Mismatch(`${name} could not be pinned: ${reply.status} ${reply.bytes}`);
}

type Doors = { listener: Listener; door: PrivateDoor | undefined };

async function missingNeeds(stage: Stage, { listener, door }: Doors): Promise<Map<Need, string>> {
  const missing = new Map<Need, string>();
  const operator = await missingOperator(door);
  if (operator !== undefined) missing.set('operator', operator);
  const directory = await askUntilReached(stage);
  if (directory.status !== 200) {
    const why = `the target does not reach ${stage.peer.name} at ${listener.origin} (${directory.status} ${textOf(directory.json, 'code')})`;
    return missing.set('reachable', why).set('pinned', why).set('operator', why);
  }
  const pinned = await missingAgents(stage);
  if (pinned !== undefined) missing.set('pinned', pinned).set('operator', pinned);
  return missing;
}

/** A domain that did not answer when it was pinned is asked again after some seconds only. */
async function askUntilReached({ peer }: Stage): Promise<Reply> {
  const ask = () => peer.get('/federation/v1/directory');
  const reached = await eventually(async () => {
    const reply = await ask();
    return reply.status === 200 ? reply : undefined;
  }, patienceMs);
  return reached ?? ask();
}

const patienceMs = 4_000;

async function missingOperator(door: PrivateDoor | undefined): Promise<string | undefined> {
  if (!door) return 'neither --private-url nor --token is given';
  const reply = await door.ask('GET', '/admin/v1/peers');
  return reply.status === 200 ? undefined : `the private door answers the token with ${reply.status}`;
}

/** Both agents take a message of the pinned domain, or the set-up is not done. */
async function missingAgents({ peer, quiet, answerer }: Stage): Promise<string | undefined> {
  const hello = sealEnvelope({ from: peer.agent('one'), to: [quiet, answerer], body: { text: 'set-up' } });
  const { results } = await peer.put({ envelopes: [hello.wire] });
  const fault = results.find((result) => textOf(result, 'result') !== 'accepted');
  if (results.length === 2 && fault === undefined) return undefined;
  if (textOf(fault, 'result') === 'parked') return `${peer.name} is not pinned at the target`;
  return `a message to ${textOf(fault, 'recipient') || 'the agents'} was ${textOf(fault, 'result') || 'not answered'} ${textOf(fault, 'code')}`;
}
