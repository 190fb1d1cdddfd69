// Envelopes: form, parties, times, keys, signatures, bodies.
import {
  canonicalize,
  digestOf,
  openEnvelope,
  signingBytes,
  toBase64url,
  toUtf8,
  type WireEnvelope,
} from '../../../src/protocol/index.js';
import {
  ALPHA,
  ASKER,
  BETA,
  bundleOf,
  certificateOf,
  DAY_MS,
  HOUR_MS,
  instant,
  KEYS,
  later,
  letter,
  type NamedKey,
  OTHER,
  principal,
  WORKER,
} from '../world.js';
import { invalid, type VectorFile, valid } from './vector-file.js';

const SECOND = principal('agent', BETA, 'second');
const RECIPIENTS = Array.from({ length: 51 }, (_, index) => principal('agent', BETA, `r${index}`).address);

/** Signs any header, also one that no sender would make. */
async function forged(header: unknown, body: string | undefined, key: NamedKey = ASKER.key): Promise<WireEnvelope> {
  return forgedText(canonicalize(header), body, key);
}

async function forgedText(text: string, body: string | undefined, key: NamedKey = ASKER.key): Promise<WireEnvelope> {
  const signature = `ed25519.${toBase64url(await key.sign(signingBytes('envelope', toUtf8(text))))}`;
  return { header: text, signature, ...(body === undefined ? {} : { body }) };
}

export async function envelopeVectors(): Promise<VectorFile> {
  const certificates = {
    asker: await certificateOf(ASKER),
    other: await certificateOf(OTHER),
    'asker, key not yet valid': await certificateOf(ASKER, { keyNbf: later(1000) }),
  };
  const plain = await letter({ label: 'plain', body: 'Hello from alpha.' });
  const header = JSON.parse(plain.header) as Record<string, unknown>;
  const base = { origin: ALPHA, destination: BETA, now: instant(), certificate: 'asker' };
  const good = (name: string, envelope: WireEnvelope, members: object = {}) =>
    valid(name, { ...base, envelope, ...members, expect: expectOf(envelope) });
  const bad = (name: string, reason: string, envelope: unknown, members: object = {}) =>
    invalid(name, reason, { ...base, envelope, ...members });
  const change = (members: Record<string, unknown>) => forged({ ...header, ...members }, plain.body);
  const drop = (member: string) =>
    forged(Object.fromEntries(Object.entries(header).filter(([name]) => name !== member)), plain.body);
  const object = { body_ref: 'object://alpha.test/1', body_digest: digestOf(toUtf8('kept elsewhere')) };
  return {
    about:
      'Envelopes read by `destination` from a request of `origin`. The certificate and alpha.test’s bundle are in the context.',
    context: { bundle: bundleOf(), certificates },
    vectors: [
      good('a message', plain),
      good('two recipients', await letter({ label: 'two', to: [WORKER.address, SECOND.address], body: 'Hello both.' })),
      good(
        'every optional member',
        await letter({
          label: 'full',
          body: 'é 😀',
          change: {
            in_reply_to: header.message_id,
            correlation_id: 'c-1',
            causation_id: 'c-0',
            idempotency_key: 'k-1',
            prev: header.message_id,
            hop_chain: [ASKER.principalId],
            engagement: ['eng-1', ASKER.principalId],
            authority_digest: digestOf(toUtf8('authority')),
          },
        }),
      ),
      good('an empty body', await letter({ label: 'empty', body: '' })),
      good('issued 300 s ahead', await letter({ label: 'ahead', body: 'a', change: { issued_at: instant(300_000) } })),
      good('seven days', await letter({ label: 'week', body: 'a', change: { expires_at: instant(7 * DAY_MS) } })),
      good('fifty recipients', await letter({ label: 'fifty', to: RECIPIENTS.slice(0, 50), body: 'a' })),
      bad('not an object', 'envelope_malformed', 'envelope'),
      bad('another member beside the header', 'envelope_malformed', { ...plain, note: '' }),
      bad('a header that is an object', 'envelope_malformed', { ...plain, header }),
      bad('no signature', 'envelope_malformed', { header: plain.header, body: plain.body }),
      bad('a header that is no JSON', 'envelope_malformed', await forgedText('{', plain.body)),
      bad(
        'a member twice',
        'envelope_malformed',
        await forgedText(plain.header.replace('{', '{"prev":"",'), plain.body),
      ),
      bad(
        'members in another order',
        'envelope_not_canonical',
        await forgedText(JSON.stringify(Object.fromEntries(Object.entries(header).reverse())), plain.body),
      ),
      bad('white space', 'envelope_not_canonical', await forgedText(plain.header.replace(':', ': '), plain.body)),
      bad(
        'an escaped letter',
        'envelope_not_canonical',
        await forgedText(plain.header.replace('alpha', '\\u0061lpha'), plain.body),
      ),
      bad('an unknown member', 'envelope_malformed', await change({ priority: 'high' })),
      bad('BR-10 no issued_at', 'envelope_malformed', await drop('issued_at')),
      bad('no prev', 'envelope_malformed', await drop('prev')),
      bad('no recipient', 'envelope_malformed', await change({ to: [] })),
      bad('51 recipients', 'envelope_malformed', await change({ to: RECIPIENTS })),
      bad('a recipient twice', 'envelope_malformed', await change({ to: [WORKER.address, WORKER.address] })),
      bad(
        'an instant with an offset',
        'envelope_malformed',
        await change({ issued_at: '2026-08-17T09:30:00.000+00:00' }),
      ),
      bad(
        '17 hops',
        'envelope_malformed',
        await change({ hop_chain: Array.from({ length: 17 }, () => ASKER.principalId) }),
      ),
      bad('neither body nor body_ref', 'envelope_malformed', await forged(header, undefined)),
      bad('body and body_ref', 'envelope_malformed', await forged({ ...header, ...object }, plain.body)),
      bad('a body that is not there', 'body_missing', await forged({ ...header, ...object }, undefined)),
      bad(
        'a header too large',
        'envelope_too_large',
        await forged({ ...header, correlation_id: 'c'.repeat(16 * 1024) }, plain.body),
      ),
      bad('a body too large', 'envelope_too_large', { ...plain, body: 'b'.repeat(48 * 1024 + 1) }),
      bad('another signature tag', 'signature_invalid', {
        ...plain,
        signature: plain.signature.replace('ed25519.', 'ed25519-root.'),
      }),
      bad('a short signature', 'signature_invalid', { ...plain, signature: plain.signature.slice(0, -2) }),
      bad('no certificate', 'certificate_missing', plain, { certificate: null }),
      bad('a certificate of another key', 'certificate_missing', plain, { certificate: 'other' }),
      bad('a certificate read too late', 'certificate_missing', plain, { now: instant(2 * HOUR_MS) }),
      bad('BR-09 another origin', 'sender_mismatch', plain, { origin: BETA }),
      bad('a sender of another domain', 'sender_mismatch', await change({ sender: WORKER.address })),
      bad('another sender_domain', 'sender_mismatch', await change({ sender_domain: BETA })),
      bad('a recipient elsewhere', 'wrong_destination', await change({ to: [WORKER.address, OTHER.address] })),
      bad('BR-10 issued more than 300 s ahead', 'issued_in_future', await change({ issued_at: instant(300_001) })),
      bad(
        'BR-10 two years ahead',
        'issued_in_future',
        await change({ issued_at: instant(730 * DAY_MS), expires_at: instant(731 * DAY_MS) }),
      ),
      bad('expired', 'expired', await change({ issued_at: instant(-HOUR_MS), expires_at: instant() })),
      bad(
        'expires before it is issued',
        'envelope_malformed',
        await change({ issued_at: instant(2000), expires_at: instant(1000) }),
      ),
      bad('BR-10 more than seven days', 'lifetime_too_long', await change({ expires_at: instant(7 * DAY_MS + 1) })),
      bad('a sender whose key it is not', 'certificate_invalid', await change({ sender: OTHER.address })),
      bad('before the key was valid', 'key_invalid', plain, { certificate: 'asker, key not yet valid' }),
      bad('signed by another key', 'signature_invalid', await forged(header, plain.body, KEYS.stranger)),
      bad('BR-08 another body', 'body_digest_mismatch', { ...plain, body: 'Hello from omega.' }),
    ],
  };
}

function expectOf(envelope: WireEnvelope) {
  const opened = openEnvelope(envelope);
  if (!opened.ok) throw new TypeError(opened.detail);
  const { message_id, body_digest } = opened.header;
  return { message_id, header_digest: opened.headerDigest, body_digest, sender_principal_id: ASKER.principalId };
}
