// A principal of a played domain: its key, its certificates and the envelopes that it signs, right unless changed on purpose.
import { canonicalJson } from '../wire/canonical-json.js';
import { base64url, digestOf, signingBytes } from '../wire/encoding.js';
import { nowInSeconds } from '../wire/http-signature.js';
import { mintId, principalIdOf } from '../wire/ids.js';
import { compactJws } from '../wire/jws.js';
import type { SigningKey } from '../wire/keys.js';
import { instantIn } from '../wire/time.js';
import type { Identity } from './identity.js';

export interface PlayedAgent {
  readonly domain: string;
  readonly address: string;
  readonly principalId: string;
  readonly keyRef: string;
  readonly key: SigningKey;
  readonly tag: string;
}

export function playAgent(identity: Identity, domain: string, name: string): PlayedAgent {
  const key = identity.keyOf(domain, 'agents', name);
  const address = `agent://${domain}/agents/${name}`;
  return {
    domain,
    address,
    principalId: principalIdOf(address, key.jwk, base64url(key.kid.slice(0, 16))),
    keyRef: `key://${domain}/agents/${name}/1`,
    key,
    tag: key.kid
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '')
      .slice(0, 12),
  };
}

export interface CertificateFault {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly typ?: string;
}

export function certificateOf(agent: PlayedAgent, signer: SigningKey, fault: CertificateFault = {}): string {
  const now = nowInSeconds();
  const claims: Record<string, unknown> = {
    iss: agent.domain,
    sub: agent.address,
    principal_id: agent.principalId,
    kid: agent.keyRef,
    cnf: { jwk: agent.key.jwk },
    key_nbf: now - 86_400,
    key_exp: now + 86_400,
    iat: now - 5,
    exp: now + 3_600,
    ...fault.claims,
  };
  return compactJws({ typ: fault.typ ?? 'agent-key+jwt', payload: claims, key: signer, header: fault.header ?? {} });
}

export interface EnvelopeDraft {
  readonly from: PlayedAgent;
  readonly to: readonly string[];
  readonly type?: string;
  /** An object is written as JSON; text stays as it is. */
  readonly body?: unknown;
  /** Header members to replace or add; undefined leaves one out. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** The header's text as it is signed and sent, from the canonical one. */
  readonly spelling?: (canonical: string) => string;
  /** The envelope as it is sent. */
  readonly change?: (envelope: Record<string, unknown>) => unknown;
  readonly sign?: (signature: Buffer) => Uint8Array;
}

export interface PlayedEnvelope {
  readonly wire: unknown;
  readonly messageId: string;
  readonly conversationId: string;
  readonly header: string;
  readonly headerDigest: string;
  readonly body: string;
  readonly bodyDigest: string;
}

const interactionMediaType = 'application/agent-interaction+json';

export function sealEnvelope({ from, to, body = { text: 'hello' }, ...draft }: EnvelopeDraft): PlayedEnvelope {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const header: Record<string, unknown> = {
    message_id: mintId('msg', from.tag),
    sender: from.address,
    sender_domain: from.domain,
    to,
    conversation_id: mintId('conv', from.tag, from.domain),
    prev: '',
    interaction_type: draft.type ?? 'message',
    issued_at: instantIn(0),
    expires_at: instantIn(3_600),
    body_digest: digestOf(text),
    content_type: interactionMediaType,
    key_id: from.keyRef,
    ...draft.header,
  };
  const spelled = draft.spelling?.(canonicalJson(header)) ?? canonicalJson(header);
  const signed = from.key.sign(signingBytes('envelope', spelled));
  const wire = { header: spelled, signature: `ed25519.${base64url(draft.sign?.(signed) ?? signed)}`, body: text };
  return {
    wire: draft.change?.(wire) ?? wire,
    messageId: String(header.message_id),
    conversationId: String(header.conversation_id),
    header: spelled,
    headerDigest: digestOf(spelled),
    body: text,
    bodyDigest: digestOf(text),
  };
}
