// What our code says of each vector: the same form for every file, a reason or what was found.
import {
  admitPublicKey,
  canonicalize,
  type DomainBundle,
  digestOf,
  fromBase64url,
  genesisRecordSchema,
  homeTagOf,
  isDigest,
  isPrincipalId,
  keyAt,
  Problem,
  parseAddress,
  parseDiscovery,
  parseDomain,
  parseId,
  parseInstant,
  parseKeyRef,
  parseStrictJson,
  parseTransactionAnswer,
  principalIdOf,
  readPublicKey,
  readReceipt,
  toUtf8,
  verifyAgentKeyCertificate,
  verifyBundle,
  verifyReceipt,
  verifySignature,
} from '../../src/protocol/index.js';
import { type Context, domain, type Read, text, type Verdict } from './vector-reading.js';
import {
  envelopeVerdict,
  requestVerdict,
  tableVerdict,
  transactionVerdict,
  transitionVerdict,
} from './wire-verdicts.js';

export const verdicts: Record<string, (vector: Read, context: Context) => Verdict | Promise<Verdict>> = {
  'names.json': nameVerdict,
  'strict-json.json': (vector) => problemVerdict(() => void parseStrictJson(bytesOf(vector), { maxBytes: 1_000_000 })),
  'canonical-json.json': (vector) =>
    problemVerdict(() => {
      const canonical = canonicalize(parseStrictJson(text(vector.json), { maxBytes: 1_000_000 }));
      return { canonical, digest: String(digestOf(toUtf8(canonical))) };
    }),
  'keys.json': ({ jwk }) => {
    const read = readPublicKey(jwk);
    return read.ok ? { found: { thumbprint: read.key.thumbprint } } : { reason: read.reason };
  },
  'signatures.json': (vector) => {
    const [message, signature] = [fromBase64url(text(vector.message)), fromBase64url(text(vector.signature))];
    const holds = message && signature && verifySignature(admitPublicKey(vector.jwk), message, signature);
    return holds ? {} : { reason: 'signature_invalid' };
  },
  'principal-ids.json': ({ record }) => {
    const parsed = genesisRecordSchema.safeParse(record);
    if (!parsed.success) return { reason: 'genesis_malformed' };
    const principalId = principalIdOf(parsed.data);
    return { found: { principal_id: principalId, home_tag: homeTagOf(principalId) }, canonical: canonicalize(record) };
  },
  'discovery.json': (vector) => {
    const read = parseDiscovery(toUtf8(JSON.stringify(vector.document)), domain(vector.domain));
    return read.ok ? {} : { reason: read.reason };
  },
  'bundles.json': async (vector) => {
    const given = vector.pinned as { first_contact: true } | { fingerprint: string } | { bundle: DomainBundle };
    const pinned = 'first_contact' in given ? { firstContact: true as const } : given;
    const options = { domain: domain(vector.domain), now: instant(vector.now), pinned };
    const read = await verifyBundle(text(vector.document), options);
    return read.ok
      ? { found: { fingerprint: read.fingerprint, sequence: read.bundle.sequence } }
      : { reason: read.reason };
  },
  'key-validity.json': (vector, context) => {
    const read = keyAt(bundleNamed(vector, context), text(vector.kid), instant(vector.issued_at));
    return read.ok ? {} : { reason: read.reason };
  },
  'certificates.json': async (vector, context) => {
    const options = { bundle: bundleNamed(vector, context), now: instant(vector.now) };
    const read = await verifyAgentKeyCertificate(text(vector.token), options);
    if (!read.ok) return { reason: read.reason };
    const { address, principalId, keyRef, publicKey } = read;
    return { found: { address, principal_id: principalId, key_ref: keyRef, x: publicKey.jwk.x } };
  },
  'receipts.json': async (vector, context) => {
    const options = { bundle: bundleNamed(vector, context), now: instant(vector.now) };
    const read = await verifyReceipt(readReceipt(text(vector.token)), options);
    return read.ok
      ? { found: { receipt_id: read.receipt.receipt_id, type: read.receipt.type } }
      : { reason: read.reason };
  },
  'answers.json': ({ answer }) => problemVerdict(() => void parseTransactionAnswer(toUtf8(JSON.stringify(answer)))),
  'requests.json': requestVerdict,
  'envelopes.json': envelopeVerdict,
  'transactions.json': transactionVerdict,
  'transitions.json': transitionVerdict,
  'transition-table.json': tableVerdict,
};

function nameVerdict(vector: Read): Verdict {
  const [grammar, value] = [text(vector.grammar), text(vector.text)];
  const found = grammars[grammar]?.(value);
  if (found === undefined) return { reason: `not_${grammar}` };
  return vector.expect === undefined ? {} : { found };
}

const grammars: Record<string, (value: string) => object | undefined> = {
  domain: (value) => (parseDomain(value) === undefined ? undefined : {}),
  address: (value) => {
    const parsed = parseAddress(value);
    return parsed && { kind: parsed.kind, domain: parsed.domain, name: parsed.name };
  },
  key_ref: (value) => {
    const { keyRef: _, ...parts } = parseKeyRef(value) ?? { keyRef: undefined };
    return 'owner' in parts ? parts : undefined;
  },
  id: (value) => {
    const parsed = parseId(value);
    return parsed && { kind: parsed.kind, home_tag: parsed.homeTag, ...(parsed.domain && { domain: parsed.domain }) };
  },
  principal_id: (value) => (isPrincipalId(value) ? { home_tag: homeTagOf(value) } : undefined),
  instant: (value) => parseInstant(value),
  digest: (value) => (isDigest(value) ? {} : undefined),
  base64url: (value) => fromBase64url(value),
};

function problemVerdict(read: () => Verdict | undefined): Verdict {
  try {
    return read() ?? {};
  } catch (error) {
    if (error instanceof Problem) return { reason: error.code };
    throw error;
  }
}

function bytesOf(vector: Read): Uint8Array {
  const bytes = vector.bytes === undefined ? toUtf8(text(vector.text)) : fromBase64url(text(vector.bytes));
  if (!bytes) throw new TypeError('the bytes of a vector are not base64url');
  return bytes;
}

function bundleNamed(vector: Read, { bundles = {} }: Context): DomainBundle {
  const bundle = bundles[text(vector.bundle)];
  if (!bundle) throw new TypeError(`no bundle ${String(vector.bundle)}`);
  return bundle;
}

function instant(value: unknown): Date {
  return new Date(text(value));
}
