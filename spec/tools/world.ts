/**
 * The small world of the vectors: two domains with fixed keys at one instant, so that each run makes the same bytes.
 * The seeds are SHA-256 of public text: these keys are for vectors only.
 */
import {
  type Address,
  type DomainBundle,
  digestOf,
  domainKeyRef,
  formatAddress,
  formatInstant,
  homeTagOf,
  type InteractionType,
  keyPairFromSeed,
  mintDomainId,
  mintId,
  type PrincipalKind,
  parseDomain,
  principalIdOf,
  principalKeyRef,
  sealAgentKeyCertificate,
  sealBundle,
  sealEnvelope,
  sha256,
  signerOf,
  toBase64url,
  toNumericDate,
  toUtf8,
} from '../../src/protocol/index.js';

export const NOW = new Date(Date.UTC(2026, 7, 17, 9, 30, 0));
const SECOND_MS = 1000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export function later(ms: number): Date {
  return new Date(NOW.getTime() + ms);
}

export function instant(ms = 0): string {
  return formatInstant(later(ms));
}

export function seedFor(name: string): Uint8Array {
  return sha256(toUtf8(`agent-federation/1 vector key ${name}`));
}

function keyNamed(name: string) {
  const { privateKey, publicKey } = keyPairFromSeed(seedFor(name));
  return { name, jwk: publicKey.jwk, kid: publicKey.thumbprint, sign: signerOf(privateKey) };
}

export type NamedKey = ReturnType<typeof keyNamed>;

function domainOf(text: string) {
  const domain = parseDomain(text);
  if (!domain) throw new TypeError(text);
  return domain;
}

export const ALPHA = domainOf('alpha.test');
export const BETA = domainOf('beta.test');
export const KEYS = {
  alpha: keyNamed('alpha domain 1'),
  alphaNext: keyNamed('alpha domain 2'),
  beta: keyNamed('beta domain 1'),
  stranger: keyNamed('stranger'),
};

/** A principal of the world, with its key and its id. */
export function principal(kind: PrincipalKind, domain: typeof ALPHA, name: string) {
  const address = formatAddress({ kind, domain, name });
  const key = keyNamed(address);
  const record = {
    address,
    first_key: key.jwk,
    recovery_key_hash: digestOf(toUtf8(`recovery ${address}`)),
    salt: toBase64url(sha256(toUtf8(`salt ${address}`)).subarray(0, 16)),
  };
  const principalId = principalIdOf(record);
  return {
    address,
    domain,
    key,
    record,
    principalId,
    home: homeTagOf(principalId),
    keyRef: principalKeyRef(address, 1),
  };
}

export type WorldPrincipal = ReturnType<typeof principal>;

export const ASKER = principal('agent', ALPHA, 'asker');
export const WORKER = principal('agent', BETA, 'worker');
export const JUDGE = principal('human', ALPHA, 'judge');
export const OTHER = principal('agent', ALPHA, 'other');
export const ALPHA_KEY_REF = domainKeyRef(ALPHA, KEYS.alpha.kid);

/** Bytes that look like chance and are the same in every run: each draw belongs to a label. */
export function chance(label: string): (bytes: number) => Uint8Array {
  return (bytes) => sha256(toUtf8(`chance ${label}`)).slice(0, bytes);
}

export function mint(label: string) {
  return { now: NOW, random: chance(label) };
}

export const messageId = (label: string, who: WorldPrincipal = ASKER) => mintId('msg', who.home, mint(label));
export const CONVERSATION = mintDomainId('conv', { domain: ALPHA, homeTag: ASKER.home, ...mint('conversation') });
export const COMMITMENT = mintDomainId('cmt', { domain: ALPHA, homeTag: ASKER.home, ...mint('commitment') });
export const PROPOSAL = mintId('prop', ASKER.home, mint('proposal'));
export const TRANSACTION = mintId('txn', ASKER.home, mint('transaction'));

export function bundleKey(key: NamedKey, { from = -30 * DAY_MS, to = 365 * DAY_MS } = {}) {
  return { ...key.jwk, kid: key.kid, nbf: toNumericDate(later(from)), exp: toNumericDate(later(to)) };
}

/** Alpha's bundle with one current key, changed as a vector needs. */
export function bundleOf(change: Partial<DomainBundle> = {}): DomainBundle {
  return {
    domain: ALPHA,
    sequence: '7',
    issued_at: instant(-60 * SECOND_MS),
    valid_until: instant(DAY_MS - 60 * SECOND_MS),
    refresh_hint_s: 300,
    first_kid: KEYS.alpha.kid,
    keys: [bundleKey(KEYS.alpha)],
    retired_keys: [],
    revoked: [],
    ...change,
  };
}

export function betaBundle(): DomainBundle {
  return bundleOf({ domain: BETA, first_kid: KEYS.beta.kid, keys: [bundleKey(KEYS.beta)] });
}

export function sealed(bundle: DomainBundle, ...signers: NamedKey[]): Promise<string> {
  return sealBundle(bundle, signers);
}

function certificateDraft(who: WorldPrincipal = ASKER) {
  return {
    domain: who.domain,
    address: who.address,
    principalId: who.principalId,
    keyRef: who.keyRef,
    jwk: who.key.jwk,
    keyNbf: later(-10 * DAY_MS),
    keyExp: later(90 * DAY_MS),
    issuedAt: later(-10 * SECOND_MS),
    expiresAt: later(HOUR_MS),
  };
}

export type CertificateChange = Partial<ReturnType<typeof certificateDraft>>;

export function certificateOf(who: WorldPrincipal, change: CertificateChange = {}, signer?: NamedKey): Promise<string> {
  const key = signer ?? (who.domain === ALPHA ? KEYS.alpha : KEYS.beta);
  return sealAgentKeyCertificate({ ...certificateDraft(who), ...change }, key.kid, key.sign);
}

export interface Letter {
  label: string;
  from?: WorldPrincipal;
  to?: Address[];
  type?: InteractionType;
  contentType?: string;
  body: string;
  change?: Record<string, unknown>;
}

/** Seals an envelope; `change` replaces header members before signing. */
export async function letter({ label, from = ASKER, to = [WORKER.address], type = 'message', ...rest }: Letter) {
  const draft = {
    message_id: messageId(label, from),
    sender: from.address,
    to,
    conversation_id: CONVERSATION,
    prev: '' as const,
    interaction_type: type,
    issued_at: instant(),
    expires_at: instant(HOUR_MS),
    content_type: rest.contentType ?? 'text/plain',
    key_id: from.keyRef,
    ...rest.change,
  };
  return sealEnvelope(draft, toUtf8(rest.body), from.key.sign);
}
