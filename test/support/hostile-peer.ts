/**
 * A peer domain with real keys that can do each wrong thing on the wire: it publishes whatever bundle it is told to, seals
 * envelopes and transactions with any member changed, and answers a delivery as a test wants. Needs no database.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock, systemRandom } from '../../src/platform/index.js';
import {
  type Address,
  DISCOVERY_PATH,
  type Domain,
  type DomainBundle,
  describeDomain,
  digestOf,
  domainKeyRef,
  type EnvelopeDraft,
  formatAddress,
  formatInstant,
  generateKeyPair,
  homeTagOf,
  INTERACTION_MEDIA_TYPE,
  type KeyRef,
  mintDomainId,
  mintId,
  type PrincipalId,
  parseDomain,
  principalIdOf,
  principalKeyRef,
  type Sign,
  sealAgentKeyCertificate,
  sealBundle,
  sealEnvelope,
  signerOf,
  signRequest,
  toBase64url,
  toNumericDate,
  toUtf8,
  type WireEnvelope,
} from '../../src/protocol/index.js';

const DAY_MS = 86_400_000;
const random = systemRandom();

export interface HostileKey {
  kid: string;
  x: string;
  sign: Sign;
}

export interface HostileAgent {
  address: Address;
  principalId: PrincipalId;
  keyRef: KeyRef;
  key: HostileKey;
}

/** What the peer's own door was asked, and how it answers; undefined means 404. */
export type Asked = { method: string; path: string; headers: IncomingMessage['headers']; body: Buffer };
export type Answered =
  | { status: number; body?: string | Uint8Array; headers?: Record<string, string> }
  | 'hang'
  | 'cut';

export interface HostilePeer {
  domain: Domain;
  /** Where its door listens: the target of a resolve map. */
  origin: string;
  now: () => Date;
  key: HostileKey;
  fingerprint: string;
  /** What the bundle says beside the usual, and who signs it. */
  publish(change: Partial<DomainBundle>, signers?: readonly HostileKey[]): void;
  asked: Asked[];
  /** Answers before the peer's own answer does. */
  answer: (asked: Asked) => Promise<Answered | undefined> | Answered | undefined;
  agent(name: string): HostileAgent;
  close(): Promise<void>;
}

export function newKey(): HostileKey {
  const { privateKey, publicKey } = generateKeyPair();
  return { kid: publicKey.thumbprint, x: publicKey.jwk.x, sign: signerOf(privateKey) };
}

/** A key as a bundle lists it, valid around `now`. */
export function bundleKey({ kid, x }: HostileKey, now: Date): DomainBundle['keys'][number] {
  const at = (ms: number) => toNumericDate(new Date(now.getTime() + ms));
  return { kty: 'OKP', crv: 'Ed25519', x, kid, nbf: at(-30 * DAY_MS), exp: at(365 * DAY_MS) };
}

export function domainNamed(name: string): Domain {
  const domain = parseDomain(name);
  if (!domain) throw new Error(`not a domain: ${name}`);
  return domain;
}

export async function openHostilePeer(name: string, now: () => Date = systemClock().now): Promise<HostilePeer> {
  const domain = domainNamed(name);
  const key = newKey();
  // Each answer is a newer bundle, as its time of issue says.
  let sequence = 0;
  let change: Partial<DomainBundle> = {};
  let signers: readonly HostileKey[] = [key];

  const peer: HostilePeer = {
    domain,
    origin: '',
    now,
    key,
    fingerprint: key.kid,
    publish(next, by = signers) {
      change = next;
      signers = by;
    },
    asked: [],
    answer: () => undefined,
    agent: (agentName) => newAgent(domain, agentName),
    close: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
  const bundle = () => {
    sequence += 1;
    return sealBundle(
      {
        domain,
        sequence: String(sequence),
        issued_at: formatInstant(new Date(now().getTime() - 1_000)),
        valid_until: formatInstant(new Date(now().getTime() + DAY_MS)),
        refresh_hint_s: 300,
        first_kid: key.kid,
        keys: [bundleKey(key, now())],
        retired_keys: [],
        revoked: [],
        ...change,
      },
      signers,
    );
  };
  const own = async ({ path }: Asked): Promise<Answered> => {
    if (path === DISCOVERY_PATH) return { status: 200, body: documentOf(domain) };
    if (path === '/federation/v1/bundle') return { status: 200, body: await bundle() };
    return { status: 404 };
  };
  const server = createServer((request, response) => {
    void serve(peer, own, { request, response });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  peer.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return peer;
}

function documentOf(domain: Domain): string {
  const facts = { domain, gateway: `https://${domain}`, software: 'x', contact: '' };
  return JSON.stringify(describeDomain({ ...facts, first_contact: 'quarantine' }));
}

type Served = { request: IncomingMessage; response: ServerResponse };

async function serve(peer: HostilePeer, own: (asked: Asked) => Promise<Answered>, { request, response }: Served) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const { method = '', url: path = '', headers } = request;
  const asked = { method, path, headers, body: Buffer.concat(chunks) };
  peer.asked.push(asked);
  const answered = (await peer.answer(asked)) ?? (await own(asked));
  if (answered === 'hang') return;
  if (answered === 'cut') return void response.destroy();
  response.writeHead(answered.status, answered.headers).end(answered.body);
}

function newAgent(domain: Domain, name: string): HostileAgent {
  const address = formatAddress({ kind: 'agent', domain, name });
  const key = newKey();
  const principalId = principalIdOf({
    address,
    first_key: { kty: 'OKP', crv: 'Ed25519', x: key.x },
    recovery_key_hash: digestOf(toUtf8('recovery')),
    salt: toBase64url(random.bytes(16)),
  });
  return { address, principalId, keyRef: principalKeyRef(address, 1), key };
}

export interface Certify {
  agent: HostileAgent;
  /** The domain key that signs it. */
  by?: HostileKey;
  keyNbf?: Date;
  keyExp?: Date;
  issuedAt?: Date;
  domain?: Domain;
}

export function certify(peer: HostilePeer, { agent, by = peer.key, ...more }: Certify): Promise<string> {
  const now = peer.now();
  const issuedAt = more.issuedAt ?? new Date(now.getTime() - 1_000);
  return sealAgentKeyCertificate(
    {
      domain: more.domain ?? peer.domain,
      address: agent.address,
      principalId: agent.principalId,
      keyRef: agent.keyRef,
      jwk: { kty: 'OKP', crv: 'Ed25519', x: agent.key.x },
      keyNbf: more.keyNbf ?? new Date(now.getTime() - 30 * DAY_MS),
      keyExp: more.keyExp ?? new Date(now.getTime() + 30 * DAY_MS),
      issuedAt,
      expiresAt: new Date(issuedAt.getTime() + 3_600_000),
    },
    by.kid,
    by.sign,
  );
}

const mintOf = (peer: HostilePeer) => ({ now: peer.now(), random: (count: number) => random.bytes(count) });

export interface SealHostile {
  from: HostileAgent;
  to: readonly string[];
  body?: unknown;
  draft?: Partial<EnvelopeDraft>;
}

export function sealHostile(
  peer: HostilePeer,
  { from, to, body = { text: 'hello' }, draft = {} }: SealHostile,
): Promise<WireEnvelope> {
  const now = peer.now();
  const homeTag = homeTagOf(from.principalId);
  const full: EnvelopeDraft = {
    message_id: mintId('msg', homeTag, mintOf(peer)),
    sender: from.address,
    to: to as EnvelopeDraft['to'],
    conversation_id: mintDomainId('conv', { ...mintOf(peer), domain: peer.domain, homeTag }),
    prev: '',
    interaction_type: 'message',
    issued_at: formatInstant(now),
    expires_at: formatInstant(new Date(now.getTime() + 3_600_000)),
    content_type: INTERACTION_MEDIA_TYPE,
    key_id: from.keyRef,
    ...draft,
  };
  const bytes = body instanceof Uint8Array ? body : toUtf8(typeof body === 'string' ? body : JSON.stringify(body));
  return sealEnvelope(full, bytes, from.key.sign);
}

export function messageIdOf(envelope: WireEnvelope): string {
  return String(JSON.parse(envelope.header).message_id);
}

export function transactionId(peer: HostilePeer): string {
  return mintId('txn', homeTagOf(peer.agent('tag').principalId), mintOf(peer));
}

export function frameOf(peer: HostilePeer, to: Domain, frame: Record<string, unknown>): Uint8Array {
  const whole = {
    origin: peer.domain,
    destination: to,
    incarnation: 'inc',
    certificates: [],
    envelopes: [],
    signals: [],
  };
  return toUtf8(JSON.stringify({ ...whole, ...frame }));
}

export interface SignHostile {
  to: Domain;
  body: Uint8Array;
  id?: string;
  by?: HostileKey;
  keyRef?: KeyRef;
  origin?: Domain;
  destination?: Domain;
  created?: Date;
  nonce?: string;
}

/** A request as it goes over the wire: all of it may be changed before it is sent. */
export interface WireRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

export async function signHostile(peer: HostilePeer, sign: SignHostile): Promise<WireRequest> {
  const { to, body, by = peer.key } = sign;
  const path = `/federation/v1/transactions/${sign.id ?? transactionId(peer)}`;
  const headers = await signRequest({
    method: 'PUT',
    targetUri: `https://${to}${path}`,
    body,
    contentType: 'application/json',
    origin: sign.origin ?? peer.domain,
    destination: sign.destination ?? to,
    keyRef: sign.keyRef ?? domainKeyRef(peer.domain, by.kid),
    created: sign.created ?? peer.now(),
    nonce: sign.nonce ?? toBase64url(random.bytes(18)),
    sign: by.sign,
  });
  return { method: 'PUT', path, headers, body };
}
