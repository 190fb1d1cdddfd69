import { describe, expect, test } from 'vitest';
import {
  digestOf,
  type EnvelopeDraft,
  encodeInteraction,
  formatAddress,
  INTERACTION_MEDIA_TYPE,
  INTERACTION_TYPES,
  type Interaction,
  LIMITS,
  mintDomainId,
  openEnvelope,
  parseInteraction,
  sealEnvelope,
  toUtf8,
} from '../../src/protocol/index.js';
import {
  AGENT_KEY,
  BETA,
  COMMITMENT,
  envelopeDraft,
  messageId,
  NOW,
  PROPOSAL,
  random,
  TAG,
  WORKER,
} from './fixtures.js';

const digest = digestOf(toUtf8('x'));
const binding = { commitment_id: COMMITMENT, proposal_id: PROPOSAL, version: 1, proposal_digest: digest };
const proposal = {
  proposal_id: PROPOSAL,
  version: 1,
  commitment_id: COMMITMENT,
  action: 'audit.release',
  subject: 'release://alpha.test/payments/184',
  content: { retries: 3 },
  deadline: '2026-08-17T12:00:00.000Z',
  evidence_policy: { required_artifacts: ['signed-audit-report'] },
};
const evidence = {
  name: 'report',
  digest: digestOf(toUtf8('all good')),
  content_type: 'text/plain',
  content: 'all good',
};

const INTERACTIONS: Interaction[] = [
  { type: 'message', body: { text: 'hello' } },
  { type: 'request', body: { proposal } },
  { type: 'accept', body: { accepts: 'proposal', ...binding, previous: '' } },
  {
    type: 'accept',
    body: {
      accepts: 'report',
      commitment_id: COMMITMENT,
      report_message_id: messageId(),
      report_digest: digest,
      previous: digest,
    },
  },
  { type: 'reject', body: { ...binding, reason: 'busy', previous: '' } },
  {
    type: 'report',
    body: {
      commitment_id: COMMITMENT,
      proposal_digest: digest,
      summary: 'done',
      evidence: [evidence],
      previous: digest,
    },
  },
];

async function read(type: string, body: Uint8Array, change: Partial<EnvelopeDraft> = {}) {
  const draft = envelopeDraft({ interaction_type: type, content_type: INTERACTION_MEDIA_TYPE, ...change });
  const opened = openEnvelope(await sealEnvelope(draft, body, AGENT_KEY.sign));
  if (!opened.ok) throw new TypeError(opened.detail);
  return parseInteraction({ header: opened.header, body });
}

async function verdict(type: string, body: unknown, change: Partial<EnvelopeDraft> = {}): Promise<string> {
  const result = await read(type, toUtf8(typeof body === 'string' ? body : JSON.stringify(body)), change);
  return result.ok ? 'read' : result.reason;
}

describe('interactions', () => {
  test.each(INTERACTIONS)('what is encoded is read back: $type', async (interaction) => {
    expect(await read(interaction.type, encodeInteraction(interaction))).toEqual({ ok: true, interaction });
  });

  test('plain text is a message', async () => {
    const result = await read('message', toUtf8('héllo'), { content_type: 'text/plain' });
    expect(result).toEqual({ ok: true, interaction: { type: 'message', body: { text: 'héllo' } } });
  });

  test.each(INTERACTION_TYPES.filter((type) => type !== 'message'))(
    'D14 free text never becomes a %s',
    async (type) => {
      expect(await verdict(type, 'I accept', { content_type: 'text/plain' })).toBe('interaction_invalid');
    },
  );

  test.each([
    'offer',
    'delegate',
    'commit',
    'approve',
    'revoke',
    'handoff',
    'query',
    'subscribe',
    'negotiate',
    'cancel',
    'dispute',
    'resolve',
  ])('a %s is known and not supported yet', async (type) =>
    expect(await verdict(type, {})).toBe('interaction_unsupported'),
  );

  test.each<[string, string, unknown]>([
    ['an unknown type', 'wish', {}],
    ['another shape', 'accept', { commitment_id: COMMITMENT }],
    ['one member more', 'request', { proposal, more: 1 }],
    ['a duplicate member', 'message', '{"text":"a","text":"b"}'],
    ['an unsafe number', 'request', JSON.stringify({ proposal }).replace('"retries":3', '"retries":9007199254740993')],
    [
      'a digest that is none',
      'accept',
      { accepts: 'proposal', ...binding, proposal_digest: 'sha256:00', previous: '' },
    ],
    [
      'inline evidence with another digest',
      'report',
      {
        commitment_id: COMMITMENT,
        proposal_digest: digest,
        summary: '',
        evidence: [{ ...evidence, content: 'other' }],
        previous: '',
      },
    ],
    ['a version of zero', 'request', { proposal: { ...proposal, version: 0 } }],
  ])('%s is refused', async (_, type, body) => {
    expect(await verdict(type, body)).toBe('interaction_invalid');
  });

  test('another media type is refused', async () => {
    expect(await verdict('message', { text: 'x' }, { content_type: 'application/json' })).toBe('interaction_invalid');
  });

  test('a request goes to exactly one debtor', async () => {
    const to = [WORKER, formatAddress({ kind: 'agent', domain: BETA, name: 'second' })];
    expect(await verdict('request', { proposal }, { to })).toBe('interaction_invalid');
  });

  test('a mint for another domain is refused', async () => {
    const foreign = mintDomainId('cmt', { domain: BETA, homeTag: TAG, now: NOW, random });
    expect(await verdict('request', { proposal: { ...proposal, commitment_id: foreign } })).toBe('mint_foreign_domain');
  });

  test('16 KiB of inline evidence and 16 pieces are accepted, more is not', async () => {
    const report = (content: string, count: number) => ({
      commitment_id: COMMITMENT,
      proposal_digest: digest,
      summary: '',
      evidence: Array.from({ length: count }, () => ({
        name: 'n',
        digest: digestOf(toUtf8(content)),
        content_type: 'text/plain',
        content,
      })),
      previous: '',
    });
    const full = 'x'.repeat(LIMITS.evidenceInlineBytes);
    expect(await verdict('report', report(full, 1))).toBe('read');
    expect(await verdict('report', report(`${full}x`, 1))).toBe('interaction_invalid');
    expect(await verdict('report', report('x', LIMITS.evidenceItems))).toBe('read');
    expect(await verdict('report', report('x', LIMITS.evidenceItems + 1))).toBe('interaction_invalid');
  });

  test('32 KiB of text are accepted, a byte more is not', async () => {
    const text = 'é'.repeat(LIMITS.textBytes / 2);
    expect(await verdict('message', { text })).toBe('read');
    expect(await verdict('message', { text: `${text}x` })).toBe('interaction_invalid');
  });

  test('an interaction that breaks its schema is never encoded', () => {
    expect(() => encodeInteraction({ type: 'message', body: { text: 'x'.repeat(LIMITS.textBytes + 1) } })).toThrow(
      /schema_invalid/,
    );
  });
});
