/**
 * A domain that the suite plays: what it serves, what it was sent, and what it sends. Everything is right unless a scenario
 * changes it on purpose.
 */
import { type SignatureFault, signRequest } from '../wire/http-signature.js';
import { mintId } from '../wire/ids.js';
import { memberOf, textOf } from '../wire/json.js';
import type { SigningKey } from '../wire/keys.js';
import { answerTo } from './answer.js';
import { type BundleDraft, discoveryOf, sealBundle } from './bundle.js';
import { call, type Reply } from './http-client.js';
import type { Identity } from './identity.js';
import type { Answer, Handler, Listener, RawAnswer, Received } from './listener.js';
import { certificateOf, type PlayedAgent, playAgent } from './played-agent.js';
import type { Target } from './target.js';

type Serve = (request: Received) => Answer | RawAnswer | Promise<Answer | RawAnswer>;

export interface PlayedDomain {
  readonly name: string;
  readonly key: SigningKey;
  /** Another key of this domain, by a name of the scenario's choice. */
  otherKey(name: string): SigningKey;
  readonly fingerprint: string;
  readonly keyRef: string;
  readonly incarnation: string;
  agent(name: string): PlayedAgent;
  /** What is served now. */
  discovery: Serve;
  bundle: Serve;
  transactions: Serve;
  /** Everything that came in, in order. */
  readonly received: Received[];
  /** Seals a bundle with the next sequence and serves it from now on. */
  publish(draft?: Partial<BundleDraft>): string;
  /** A sequence that was not used yet, higher than all before. */
  nextSequence(): string;
  put(transaction?: PutTransaction): Promise<TransactionReply>;
  get(path: string, fault?: SignatureFault & GetFault): Promise<Reply>;
}

export interface PutTransaction {
  readonly envelopes?: readonly unknown[];
  readonly certificates?: readonly unknown[];
  readonly signals?: readonly unknown[];
  readonly id?: string;
  readonly frame?: Readonly<Record<string, unknown>>;
  /** The body instead of everything above. */
  readonly body?: string | Uint8Array;
  /** What is sent instead of what was signed. */
  readonly sentBody?: Uint8Array;
  readonly fault?: SignatureFault;
  readonly key?: SigningKey;
  readonly keyid?: string;
  readonly origin?: string;
  readonly destination?: string;
  readonly targetUri?: string;
  /** The signed fields as they are sent. */
  readonly fields?: (fields: [string, string][]) => [string, string][];
}

interface GetFault {
  readonly key?: SigningKey;
  readonly keyid?: string;
  readonly body?: Uint8Array;
}

export interface TransactionReply extends Reply {
  readonly id: string;
  readonly body: Uint8Array;
  readonly code: string;
  readonly results: readonly unknown[];
  readonly receipt: string;
}

export interface Play {
  readonly identity: Identity;
  readonly listener: Listener;
  readonly target: Target;
}

export function playDomain({ identity, listener, target }: Play, name: string): PlayedDomain {
  const key = identity.keyOf(name, 'domain');
  let sequence = BigInt(Date.now()) * 1000n;
  const domain: PlayedDomain = {
    name,
    key,
    otherKey: (other) => identity.keyOf(name, 'domain', other),
    fingerprint: key.kid,
    keyRef: `key://${name}/domain/${key.kid}`,
    incarnation: `inc_${key.kid}`,
    agent: (agent) => playAgent(identity, name, agent),
    discovery: () => ({ body: JSON.stringify(discoveryOf(name)) }),
    bundle: () => ({ status: 503 }),
    transactions: (request) => answerTo(domain, request),
    received: [],
    nextSequence() {
      sequence += 1n;
      return String(sequence);
    },
    publish(draft = {}) {
      const token = sealBundle({
        domain: name,
        sequence: domain.nextSequence(),
        first: key,
        keys: [{ key }],
        ...draft,
      });
      domain.bundle = () => ({ body: token, fields: { 'content-type': 'application/jose+json' } });
      return token;
    },
    put: (transaction = {}) => putTransaction(domain, target, transaction),
    get: (path, fault = {}) => getSigned(domain, target, { path, fault }),
  };
  domain.publish();
  listener.handlers.set(name, handlerOf(domain));
  return domain;
}

function handlerOf(domain: PlayedDomain): Handler {
  return (request) => {
    domain.received.push(request);
    const [path] = request.path.split('?');
    if (request.method === 'GET' && path === '/.well-known/agent-federation') return domain.discovery(request);
    if (request.method === 'GET' && path === '/federation/v1/bundle') return domain.bundle(request);
    if (request.method === 'PUT' && path?.startsWith('/federation/v1/transactions/'))
      return domain.transactions(request);
    return { status: 404 };
  };
}

async function putTransaction(domain: PlayedDomain, target: Target, put: PutTransaction): Promise<TransactionReply> {
  const id = put.id ?? mintId('txn', 'conformance');
  const origin = put.origin ?? domain.name;
  const destination = put.destination ?? target.domain;
  const agents = ['one', 'two', 'three'].map((name) => certificateOf(domain.agent(name), domain.key));
  const frame = {
    origin,
    destination,
    incarnation: domain.incarnation,
    certificates: put.certificates ?? agents,
    envelopes: put.envelopes ?? [],
    signals: put.signals ?? [],
    ...put.frame,
  };
  const body = Buffer.from(put.body ?? JSON.stringify(frame));
  const path = `/federation/v1/transactions/${id}`;
  const signed = signRequest(
    {
      method: 'PUT',
      targetUri: put.targetUri ?? `${target.gateway}${path}`,
      body,
      origin,
      destination,
      keyid: put.keyid ?? domain.keyRef,
      key: put.key ?? domain.key,
    },
    put.fault,
  );
  const reply = await call({
    method: 'PUT',
    url: `${target.url}${path}`,
    fields: put.fields?.(signed) ?? signed,
    body: put.sentBody ?? body,
  });
  return {
    ...reply,
    id,
    body,
    code: reply.status === 200 ? '' : textOf(reply.json, 'code'),
    results: listIn(reply),
    receipt: textOf(reply.json, 'receipt'),
  };
}

function listIn(reply: Reply): readonly unknown[] {
  const results = memberOf(reply.json, 'results');
  return reply.status === 200 && Array.isArray(results) ? results : [];
}

function getSigned(
  domain: PlayedDomain,
  target: Target,
  { path, fault }: { path: string; fault: SignatureFault & GetFault },
): Promise<Reply> {
  const fields = signRequest(
    {
      method: 'GET',
      targetUri: `${target.gateway}${path}`,
      origin: domain.name,
      destination: target.domain,
      keyid: fault.keyid ?? domain.keyRef,
      key: fault.key ?? domain.key,
    },
    fault,
  );
  return call({ method: 'GET', url: `${target.url}${path}`, fields, ...(fault.body ? { body: fault.body } : {}) });
}
