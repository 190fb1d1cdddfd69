// A peer that may say anything: transactions put together by hand and signed with a domain's real keys.

import { domainTag } from '../../src/federation/index.js';
import { currentPrincipalKey, domainSigner, type Principal } from '../../src/home/index.js';
import type { PeerResponse } from '../../src/platform/index.js';
import {
  type ConversationId,
  type EnvelopeDraft,
  formatInstant,
  INTERACTION_MEDIA_TYPE,
  mintDomainId,
  mintId,
  parseKeyRef,
  parseTransactionAnswer,
  sealEnvelope,
  signRequest,
  type TransactionResult,
  toBase64url,
  toUtf8,
  type WireEnvelope,
} from '../../src/protocol/index.js';
import type { TestDomain, World } from './federation-world.js';

const mintOf = ({ home }: TestDomain) => ({
  now: home.clock.now(),
  random: (bytes: number) => home.random.bytes(bytes),
});

export function newConversation(domain: TestDomain, by: Principal): ConversationId {
  return mintDomainId('conv', { ...mintOf(domain), domain: domain.name, homeTag: by.home });
}

export interface Seal {
  from: Principal;
  to: readonly string[];
  body?: unknown;
  draft?: Partial<EnvelopeDraft>;
}

export async function seal(
  domain: TestDomain,
  { from, to, body = { text: 'hello' }, draft = {} }: Seal,
): Promise<WireEnvelope> {
  const key = await currentPrincipalKey(domain.home.db.sql, from.home);
  const keyRef = key && parseKeyRef(key.keyRef)?.keyRef;
  if (!key || !keyRef) throw new Error('no key');
  const now = domain.home.clock.now();
  const full = {
    message_id: mintId('msg', from.home, mintOf(domain)),
    sender: from.address,
    to: to as EnvelopeDraft['to'],
    conversation_id: newConversation(domain, from),
    prev: '' as const,
    interaction_type: 'message',
    issued_at: formatInstant(now),
    expires_at: formatInstant(new Date(now.getTime() + 3_600_000)),
    content_type: INTERACTION_MEDIA_TYPE,
    key_id: keyRef,
    ...draft,
  };
  const bytes = body instanceof Uint8Array ? body : toUtf8(JSON.stringify(body));
  return sealEnvelope(full, bytes, (signed) => domain.home.custody.sign(key, signed));
}

export interface RawTransaction {
  from: TestDomain;
  to: TestDomain;
  envelopes: readonly unknown[];
  certificates?: readonly string[];
  id?: string;
  change?: (headers: Record<string, string>) => Record<string, string>;
}

export interface RawAnswer {
  status: number;
  code: string | undefined;
  results: TransactionResult[];
  body: string;
}

export function newTransactionId(from: TestDomain): string {
  return mintId('txn', domainTag, mintOf(from));
}

/** Certificates of all agents of the domain, unless said otherwise. */
export async function sendRaw(world: World, raw: RawTransaction): Promise<RawAnswer> {
  const request = await signRaw(raw);
  return readAnswer(await world.network.http.request(request));
}

export async function signRaw({
  from,
  to,
  envelopes,
  certificates,
  id = newTransactionId(from),
  change,
}: RawTransaction) {
  const held = await Promise.all(
    Object.values(from.agents).map((agent) => from.gateway.certifier.agentKeyCertificate(agent)),
  );
  const body = toUtf8(
    JSON.stringify({
      origin: from.name,
      destination: to.name,
      incarnation: from.gateway.domain.incarnation,
      certificates: certificates ?? held,
      envelopes,
      signals: [],
    }),
  );
  const url = `https://${to.name}/federation/v1/transactions/${id}`;
  const signer = await domainSigner(from.home.db.sql, from.home.custody, from.home.domain);
  const headers = await signRequest({
    method: 'PUT',
    targetUri: url,
    body,
    contentType: 'application/json',
    origin: from.name,
    destination: to.name,
    keyRef: signer.keyRef,
    created: from.home.clock.now(),
    nonce: toBase64url(from.home.random.bytes(18)),
    sign: signer.sign,
  });
  return {
    method: 'PUT' as const,
    url,
    headers: change ? change(headers) : headers,
    body,
    maxBytes: 2 ** 20,
    timeoutMs: 1_000,
  };
}

export function readAnswer({ status, body }: PeerResponse): RawAnswer {
  const text = Buffer.from(body).toString();
  if (status !== 200) return { status, code: JSON.parse(text).code, results: [], body: text };
  return { status, code: undefined, results: [...parseTransactionAnswer(body).results], body: text };
}
