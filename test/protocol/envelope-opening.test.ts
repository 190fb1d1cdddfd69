import { describe, expect, test } from 'vitest';
import {
  canonicalize,
  type EnvelopeDraft,
  type EnvelopeHeader,
  formatAddress,
  LIMITS,
  type OpenedEnvelope,
  openEnvelope,
  sealEnvelope,
  signingBytes,
  toBase64url,
  toUtf8,
  type VerifyEnvelopeOptions,
  verifyEnvelope,
  type WireEnvelope,
} from '../../src/protocol/index.js';
import { AGENT_KEY, ALPHA, ASKER_ID, agentKey, BETA, COMMITMENT, envelopeDraft, NOW, WORKER } from './fixtures.js';

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
async function sealRaw(text: string, body?: string): Promise<WireEnvelope> {
  const signature = `ed25519.${toBase64url(await AGENT_KEY.sign(signingBytes('envelope', toUtf8(text))))}`;
  return { header: text, signature, ...(body === undefined ? {} : { body }) };
}

async function headerOf(change: Partial<EnvelopeDraft> = {}): Promise<EnvelopeHeader> {
  return open(await seal(change)).header;
}

describe('what cannot be opened', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['a string', 'x'],
    ['no header', { signature: 'ed25519.', body: '' }],
    ['one member more', { header: '{}', signature: '', body: '', extra: 1 }],
    ['a header that is no JSON', { header: '{', signature: '', body: '' }],
    ['a header that is an array', { header: '[]', signature: '', body: '' }],
    ['a duplicate member', { header: '{"a":"1","a":"1"}', signature: '', body: '' }],
  ])('%s is malformed', (_, wire) => {
    expect(openEnvelope(wire)).toMatchObject({ ok: false, reason: 'envelope_malformed' });
  });

  test('a header that is not canonical is refused, although its signature holds, and names its message', async () => {
    const header = await headerOf();
    const spaced = await sealRaw(JSON.stringify(header, null, 1), 'x');
    const reason = { reason: 'envelope_not_canonical', messageId: header.message_id, recipients: [WORKER] };
    expect(openEnvelope(spaced)).toMatchObject(reason);
    const escaped = await sealRaw(
      canonicalize(header).replace('please', '\\u0070lease').replace('alpha', '\\u0061lpha'),
      'x',
    );
    expect(openEnvelope(escaped)).toMatchObject({ reason: 'envelope_not_canonical' });
  });

  test.each<[string, Record<string, unknown>]>([
    ['BR-10 no issued_at', { issued_at: undefined }],
    ['no prev', { prev: undefined }],
    ['no recipient', { to: [] }],
    ['a number', { correlation_id: 7 }],
    ['an unknown field', { surprise: 'x' }],
    ['a message id of another kind', { message_id: COMMITMENT }],
    ['an instant with an offset', { issued_at: '2026-08-17T11:30:00.000+02:00' }],
    ['a content type with parameters', { content_type: 'text/plain; charset=utf-8' }],
    ['an upper-case address', { sender: 'agent://ALPHA.test/agents/asker' }],
  ])('a signed canonical header with %s is malformed', async (_, change) => {
    const header = Object.fromEntries(
      Object.entries({ ...(await headerOf()), ...change }).filter(([, value]) => value !== undefined),
    );
    expect(openEnvelope(await sealRaw(canonicalize(header), 'x'))).toMatchObject({ reason: 'envelope_malformed' });
  });

  test.each(['', 'ed25519.', 'ed25519.AAAA', 'ed25519-root.AAAA', 'rsa.AAAA'])(
    'the signature %j is refused',
    async (signature) => {
      expect(await verdict({ ...(await seal()), signature })).toBe('signature_invalid');
    },
  );

  test('a body and a body_ref exclude each other, and one of them is needed', async () => {
    const { body, ...bare } = await seal();
    expect(body).toBeDefined();
    expect(openEnvelope(bare)).toMatchObject({ reason: 'envelope_malformed' });
    const referring = await seal({ body_ref: 'object://alpha.test/sha256:1' });
    expect(referring.body).toBeUndefined();
    expect(openEnvelope({ ...referring, body: 'x' })).toMatchObject({ reason: 'envelope_malformed' });
  });

  test('nothing is accepted before its body is here', async () => {
    const wire = await seal({ body_ref: 'object://alpha.test/sha256:1' });
    expect(await verdict(wire)).toBe('body_missing');
    expect(await verdict(wire, { object: BODY })).toBe('verified');
    expect(await verdict(wire, { object: toUtf8('x') })).toBe('body_digest_mismatch');
  });
});

describe('limits of an envelope', () => {
  test('50 recipients are accepted, 51 are not', async () => {
    const to = Array.from({ length: 51 }, (_, index) =>
      formatAddress({ kind: 'agent', domain: BETA, name: `w${index}` }),
    );
    expect(await verdict(await seal({ to: to.slice(0, 50) }))).toBe('verified');
    await expect(seal({ to })).rejects.toThrow();
    expect(openEnvelope(await sealRaw(canonicalize({ ...(await headerOf()), to }), 'x'))).toMatchObject({
      reason: 'envelope_malformed',
    });
  });

  test('a hop chain of 16 is accepted, one of 17 is not', async () => {
    expect(await verdict(await seal({ hop_chain: Array(16).fill(ASKER_ID) }))).toBe('verified');
    await expect(seal({ hop_chain: Array(17).fill(ASKER_ID) })).rejects.toThrow();
  });

  test('48 KiB of body are accepted, a byte more is not', async () => {
    const body = 'é'.repeat(LIMITS.inlineBodyBytes / 2);
    const wire = await seal({}, toUtf8(body));
    expect(await verdict(wire)).toBe('verified');
    expect(openEnvelope({ ...wire, body: `${body}x` })).toMatchObject({ reason: 'envelope_too_large' });
    await expect(seal({}, toUtf8(`${body}x`))).rejects.toThrow(/too_large/);
  });

  test('a header of more than 16 KiB is refused before it is parsed', () => {
    const wire = { header: '['.repeat(LIMITS.envelopeHeaderBytes + 1), signature: '', body: '' };
    expect(openEnvelope(wire)).toMatchObject({ reason: 'envelope_too_large' });
  });
});
