import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalize,
  digestOf,
  type EnvelopeDraft,
  type EnvelopeHeader,
  formatAddress,
  formatInstant,
  LIMITS,
  mintDomainId,
  type OpenedEnvelope,
  openEnvelope,
  principalKeyRef,
  sealEnvelope,
  signingBytes,
  toBase64url,
  toUtf8,
  type VerifyEnvelopeOptions,
  verifyEnvelope,
  type WireEnvelope,
} from '../../src/protocol/index.js';
import {
  AGENT_KEY,
  ALPHA,
  ASKER,
  ASKER_ID,
  ASKER_KEY_REF,
  agentKey,
  BETA,
  envelopeDraft,
  later,
  messageId,
  NOW,
  OTHER_KEY,
  random,
  TAG,
  WORKER,
  WORKER_ID,
} from './fixtures.js';

const BODY = toUtf8('please look at build 184 — thanks');
const seal = (change: Partial<EnvelopeDraft> = {}, body = BODY) =>
  sealEnvelope(envelopeDraft(change), body, AGENT_KEY.sign);

function open(wire: unknown): OpenedEnvelope {
  const opened = openEnvelope(wire);
  if (!opened.ok) throw new TypeError(opened.detail);
  return opened;
}

async function verdict(wire: unknown, change: Partial<VerifyEnvelopeOptions> = {}): Promise<string> {
  const opened = openEnvelope(wire);
  if (!opened.ok) return opened.reason;
  const options = { origin: ALPHA, destination: BETA, now: NOW, agentKey: await agentKey(), ...change };
  const verified = verifyEnvelope(opened, options);
  return 'reason' in verified ? verified.reason : 'verified';
}

/** Signs a header that `sealEnvelope` would not make. */
async function _sealRaw(text: string, body?: string): Promise<WireEnvelope> {
  const signature = `ed25519.${toBase64url(await AGENT_KEY.sign(signingBytes('envelope', toUtf8(text))))}`;
  return { header: text, signature, ...(body === undefined ? {} : { body }) };
}

async function headerOf(change: Partial<EnvelopeDraft> = {}): Promise<EnvelopeHeader> {
  return open(await seal(change)).header;
}

describe('envelopes', () => {
  test('D4 a sealed envelope is verified, with its exact bytes and the principal behind it', async () => {
    const wire = await seal();
    const options = { origin: ALPHA, destination: BETA, now: NOW, agentKey: await agentKey() };
    const verified = verifyEnvelope(open(wire), options);
    expect(verified).toMatchObject({
      sender: ASKER,
      senderPrincipalId: ASKER_ID,
      keyRef: ASKER_KEY_REF,
      origin: ALPHA,
      body: BODY,
      headerDigest: digestOf(toUtf8(wire.header)),
      wire,
    });
  });

  test('all optional fields travel signed', async () => {
    const change: Partial<EnvelopeDraft> = {
      in_reply_to: messageId(),
      correlation_id: 'corr_1',
      causation_id: 'in_1',
      prev: messageId(),
      idempotency_key: 'vendor.example/release/184',
      hop_chain: [ASKER_ID, WORKER_ID],
      engagement: ['eng_1', ASKER_ID],
      authority_digest: digestOf(BODY),
    };
    const wire = await seal(change);
    expect(open(wire).header).toMatchObject(change);
    expect(await verdict(wire)).toBe('verified');
  });

  test('D4 any change of any header field breaks the signature or is refused before', async () => {
    const header = await headerOf({ in_reply_to: messageId(), correlation_id: 'c', hop_chain: [ASKER_ID] });
    const { signature } = await seal();
    const others: Partial<EnvelopeHeader> = {
      message_id: messageId(),
      sender: formatAddress({ kind: 'agent', domain: ALPHA, name: 'other' }),
      sender_domain: BETA,
      to: [formatAddress({ kind: 'agent', domain: BETA, name: 'other' })],
      conversation_id: mintDomainId('conv', { domain: ALPHA, homeTag: TAG, now: NOW, random }),
      prev: messageId(),
      interaction_type: 'request',
      in_reply_to: messageId(),
      correlation_id: 'd',
      issued_at: formatInstant(later(1)),
      expires_at: formatInstant(later(1000)),
      body_digest: digestOf(toUtf8('x')),
      content_type: 'text/html',
      key_id: principalKeyRef(ASKER, 2),
      hop_chain: [],
    };
    for (const [field, value] of Object.entries(others)) {
      const changed = {
        header: canonicalize({ ...header, [field]: value }),
        signature,
        body: 'please look at build 184 — thanks',
      };
      expect({ field, result: await verdict(changed) }).not.toEqual({ field, result: 'verified' });
    }
  });

  test('any changed byte of header, signature or body is refused', async () => {
    const wire = await seal();
    const whole = { header: wire.header, signature: wire.signature, body: wire.body ?? '' };
    const key = await agentKey();
    const field = fc.constantFrom('header' as const, 'signature' as const, 'body' as const);
    fc.assert(
      fc.property(field, fc.nat(), fc.constantFrom(...'aZ0" {_'), (name, position, byte) => {
        const at = position % whole[name].length;
        const text = whole[name].slice(0, at) + byte + whole[name].slice(at + 1);
        fc.pre(text !== whole[name]);
        const opened = openEnvelope({ ...whole, [name]: text });
        if (!opened.ok) return;
        expect(verifyEnvelope(opened, { origin: ALPHA, destination: BETA, now: NOW, agentKey: key })).toHaveProperty(
          'reason',
        );
      }),
      { seed: 16, numRuns: 300 },
    );
  });

  test('BR-08 another body under the same header is refused', async () => {
    expect(await verdict({ ...(await seal()), body: 'pay 1000' })).toBe('body_digest_mismatch');
  });

  test('BR-09 a sender of another domain than the authenticated origin is refused', async () => {
    expect(await verdict(await seal(), { origin: BETA })).toBe('sender_mismatch');
  });

  test.each<[string, Partial<EnvelopeDraft>, string]>([
    [
      'a recipient of another domain',
      { to: [WORKER, formatAddress({ kind: 'agent', domain: ALPHA, name: 'x' })] },
      'wrong_destination',
    ],
    ['a recipient twice', { to: [WORKER, WORKER] }, 'envelope_malformed'],
    ['a key that is not certified', { key_id: principalKeyRef(ASKER, 2) }, 'key_invalid'],
    [
      'a sender that is not certified',
      { sender: formatAddress({ kind: 'human', domain: ALPHA, name: 'asker' }) },
      'certificate_invalid',
    ],
    [
      'BR-10 a date two years ahead',
      { issued_at: '2028-08-17T09:30:00.000Z', expires_at: '2028-08-17T10:30:00.000Z' },
      'issued_in_future',
    ],
    [
      'an end before its start',
      { issued_at: formatInstant(later(2000)), expires_at: formatInstant(later(1000)) },
      'envelope_malformed',
    ],
    [
      'an issue before the key was valid',
      { issued_at: '2026-08-01T00:00:00.000Z', expires_at: '2026-08-07T00:00:00.000Z' },
      'expired',
    ],
  ])('%s is refused', async (_, change, reason) => {
    expect(await verdict(await seal(change))).toBe(reason);
  });

  test('the key must have been valid when the envelope was issued', async () => {
    const ended = await agentKey({ keyExp: NOW });
    expect(await verdict(await seal(), { agentKey: ended })).toBe('key_invalid');
    expect(await verdict(await seal({ issued_at: formatInstant(later(-1)) }), { agentKey: ended })).toBe('verified');
    const begun = await agentKey({ keyNbf: later(1000) });
    expect(await verdict(await seal(), { agentKey: begun })).toBe('key_invalid');
  });

  test('a certificate for another key does not verify the signature', async () => {
    expect(await verdict(await seal(), { agentKey: await agentKey({ jwk: OTHER_KEY.jwk }) })).toBe('signature_invalid');
  });

  test.each([
    ['300 s ahead', 300_000, 'verified'],
    ['300.001 s ahead', 300_001, 'issued_in_future'],
  ])('BR-10 an envelope issued %s', async (_, ms, result) => {
    expect(await verdict(await seal({ issued_at: formatInstant(later(ms)) }))).toBe(result);
  });

  test('BR-10 a lifetime of seven days is accepted, a millisecond more is not', async () => {
    const until = (ms: number) => seal({ expires_at: formatInstant(later(ms)) });
    expect(await verdict(await until(LIMITS.envelopeLifetimeMs))).toBe('verified');
    expect(await verdict(await until(LIMITS.envelopeLifetimeMs + 1))).toBe('lifetime_too_long');
  });

  test('an envelope is valid until its last millisecond', async () => {
    const wire = await seal({ expires_at: formatInstant(later(1000)) });
    expect(await verdict(wire, { now: later(999) })).toBe('verified');
    expect(await verdict(wire, { now: later(1000) })).toBe('expired');
  });
});
