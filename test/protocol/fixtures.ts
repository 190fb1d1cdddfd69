/** Two domains with fixed keys and one instant, so that every protocol test speaks about the same small world. */

import {
  type Address,
  type DomainBundle,
  digestOf,
  domainKeyRef,
  type EnvelopeDraft,
  formatAddress,
  formatInstant,
  type HomeTag,
  homeTagOf,
  keyPairFromSeed,
  mintDomainId,
  mintId,
  parseDomain,
  principalIdOf,
  principalKeyRef,
  sealAgentKeyCertificate,
  sealBundle,
  signerOf,
  toUtf8,
  type VerifiedAgentKey,
  verifyAgentKeyCertificate,
} from '../../src/protocol/index.js';

export const NOW = new Date(Date.UTC(2026, 7, 17, 9, 30, 0));
export const DAY_MS = 86_400_000;

export function later(ms: number, from: Date = NOW): Date {
  return new Date(from.getTime() + ms);
}

export function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

export function domain(text: string) {
  const parsed = parseDomain(text);
  if (!parsed) throw new TypeError(text);
  return parsed;
}

export const ALPHA = domain('alpha.test');
export const BETA = domain('beta.test');

let chance = 0;
/** Distinct, repeatable bytes for ids. */
export function random(bytes: number): Uint8Array {
  chance += 1;
  const out = new Uint8Array(bytes);
  new DataView(out.buffer).setUint32(bytes - 4, chance);
  return out;
}

export function keyPair(seed: number) {
  const pair = keyPairFromSeed(new Uint8Array(32).fill(seed));
  return { ...pair, jwk: pair.publicKey.jwk, kid: pair.publicKey.thumbprint, sign: signerOf(pair.privateKey) };
}

export const DOMAIN_KEY = keyPair(1);
export const NEXT_KEY = keyPair(2);
export const AGENT_KEY = keyPair(3);
export const OTHER_KEY = keyPair(4);

export function domainKey(pair: ReturnType<typeof keyPair>, exp: Date = later(365 * DAY_MS)) {
  return { ...pair.jwk, kid: pair.kid, nbf: seconds(later(-30 * DAY_MS)), exp: seconds(exp) };
}

export function bundleOf(change: Partial<DomainBundle> = {}): DomainBundle {
  return {
    domain: ALPHA,
    sequence: '1',
    issued_at: formatInstant(later(-60_000)),
    valid_until: formatInstant(later(DAY_MS)),
    refresh_hint_s: 300,
    first_kid: DOMAIN_KEY.kid,
    keys: [domainKey(DOMAIN_KEY)],
    retired_keys: [],
    revoked: [],
    ...change,
  };
}

export function sealed(bundle: DomainBundle, ...signers: ReturnType<typeof keyPair>[]): Promise<string> {
  return sealBundle(bundle, signers);
}

export const ASKER = formatAddress({ kind: 'agent', domain: ALPHA, name: 'asker' });
export const WORKER = formatAddress({ kind: 'agent', domain: BETA, name: 'worker' });
export const ASKER_KEY_REF = principalKeyRef(ASKER, 1);
export const DOMAIN_KEY_REF = domainKeyRef(ALPHA, DOMAIN_KEY.kid);

export function principalOf(address: Address) {
  return principalIdOf({
    address,
    first_key: AGENT_KEY.jwk,
    recovery_key_hash: digestOf(toUtf8('recovery')),
    salt: 'AAAAAAAAAAAAAAAAAAAAAA',
  });
}

export const ASKER_ID = principalOf(ASKER);
export const WORKER_ID = principalOf(WORKER);
export const TAG: HomeTag = homeTagOf(ASKER_ID);

export const messageId = () => mintId('msg', TAG, { now: NOW, random });
export const CONVERSATION = mintDomainId('conv', { domain: ALPHA, homeTag: TAG, now: NOW, random });
export const COMMITMENT = mintDomainId('cmt', { domain: ALPHA, homeTag: TAG, now: NOW, random });
export const PROPOSAL = mintId('prop', TAG, { now: NOW, random });

export function certificateDraft() {
  return {
    domain: ALPHA,
    address: ASKER,
    principalId: ASKER_ID,
    keyRef: ASKER_KEY_REF,
    jwk: AGENT_KEY.jwk,
    keyNbf: later(-10 * DAY_MS),
    keyExp: later(90 * DAY_MS),
    issuedAt: later(-1000),
    expiresAt: later(3_600_000),
  };
}

export async function agentKey(change: Partial<ReturnType<typeof certificateDraft>> = {}): Promise<VerifiedAgentKey> {
  const token = await sealAgentKeyCertificate({ ...certificateDraft(), ...change }, DOMAIN_KEY.kid, DOMAIN_KEY.sign);
  const verified = await verifyAgentKeyCertificate(token, { bundle: bundleOf(), now: NOW });
  if (!verified.ok) throw new TypeError(verified.detail);
  return verified;
}

export function envelopeDraft(change: Partial<EnvelopeDraft> = {}): EnvelopeDraft {
  return {
    message_id: messageId(),
    sender: ASKER,
    to: [WORKER],
    conversation_id: CONVERSATION,
    prev: '',
    interaction_type: 'message',
    issued_at: formatInstant(NOW),
    expires_at: formatInstant(later(3_600_000)),
    content_type: 'text/plain',
    key_id: ASKER_KEY_REF,
    ...change,
  };
}
