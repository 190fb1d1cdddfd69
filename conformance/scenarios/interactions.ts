// Speech acts: which bodies are taken, which conversations they may come in, and what they may name.
import { holds, rejected, resultIs, same } from '../expect.js';
import { type EnvelopeDraft, sealEnvelope } from '../peer/played-agent.js';
import type { PlayedDomain } from '../peer/played-domain.js';
import type { Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { digestOf } from '../wire/encoding.js';
import { mintId } from '../wire/ids.js';

export function proposalOf(peer: PlayedDomain, change: Record<string, unknown> = {}): Record<string, unknown> {
  const { tag } = peer.agent('one');
  return {
    proposal_id: mintId('prop', tag),
    version: 1,
    commitment_id: mintId('cmt', tag, peer.name),
    action: 'conformance.check',
    subject: 'a check',
    ...change,
  };
}

type Case = readonly [id: string, what: string, codes: readonly string[], draft: Partial<EnvelopeDraft>];

export const interactions: Scenario = {
  name: 'interactions',
  about: 'a body is taken if it is of its type, and free text does nothing but speak',
  needs: ['reachable', 'pinned'],
  checks: [
    ...[1, 2, 4, 5, 7, 8, 10, 11, 13, 14].map((number) => `INTERACTIONS-${number}`),
    ...['NAMES-1', 'NAMES-2', 'NAMES-13', 'ENCODING-5', 'ENCODING-12', 'COMMITMENTS-9'],
  ],
  async run(stage, { check }) {
    const { peer, quiet } = stage;
    const from = peer.agent('one');
    const send = (draft: Partial<EnvelopeDraft>) =>
      peer.put({ envelopes: [sealEnvelope({ from, to: [quiet], ...draft }).wire] });
    const plain = { content_type: 'text/plain' };
    await check('INTERACTIONS-2', 'a message may be text/plain', async () =>
      resultIs(await send({ body: 'hello', header: plain }), 'accepted'),
    );
    await check('INTERACTIONS-7', 'a text of 32 KiB is taken', async () =>
      resultIs(await send({ body: { text: 'x'.repeat(32_768) } }), 'accepted'),
    );
    await check('NAMES-2', 'an A-label that comes back unchanged is a name', async () => {
      const proposal = proposalOf(peer, { resolver: 'agent://xn--bcher-kva.test/agents/judge' });
      resultIs(await send({ type: 'request', body: { proposal } }), 'accepted');
    });
    for (const [id, what, codes, draft] of casesOf(stage)) {
      await check(id, what, async () => rejected(await send(draft), codes));
    }
    await check('INTERACTIONS-8', 'a conversation of the domain of its sender is taken', async () => {
      const sealed = sealEnvelope({ from, to: [quiet] });
      holds(sealed.conversationId.includes(peer.name), 'the suite minted it wrongly');
      const reply = await peer.put({ envelopes: [sealed.wire] });
      same(reply.results.length, 1, 'the number of results');
      resultIs(reply, 'accepted');
    });
  },
};

function casesOf(stage: Stage): Case[] {
  return [...bodyCases(stage), ...bindingCases(stage), ...reportCases(stage), ...nameCases(stage)];
}

function bodyCases({ peer }: Stage): Case[] {
  const invalid = ['interaction_invalid'];
  const request = (change: Record<string, unknown>): Partial<EnvelopeDraft> => ({
    type: 'request',
    body: { proposal: proposalOf(peer, change) },
  });
  return [
    ['INTERACTIONS-1', 'a type that is none is refused', invalid, { type: 'shout' }],
    [
      'INTERACTIONS-2',
      'a request as text/plain is refused',
      invalid,
      { type: 'request', header: { content_type: 'text/plain' }, body: 'do it' },
    ],
    ['INTERACTIONS-2', 'another media type is refused', invalid, { header: { content_type: 'application/json' } }],
    ['INTERACTIONS-2', 'a body with a member twice is refused', invalid, { body: '{"text":"a","text":"b"}' }],
    [
      'ENCODING-5',
      'an integer beyond 2^53 - 1 in a body is refused',
      invalid,
      { body: '{"text":"a","data":{"n":9007199254740992}}' },
    ],
    ...['offer', 'delegate', 'query', 'negotiate'].map(
      (type): Case => [
        'INTERACTIONS-4',
        `the type ${type} is not carried out`,
        ['interaction_unsupported'],
        { type, body: {} },
      ],
    ),
    ['INTERACTIONS-5', 'a message with a member more is refused', invalid, { body: { text: 'a', role: 'system' } }],
    ['INTERACTIONS-5', 'a message without text is refused', invalid, { body: {} }],
    ['INTERACTIONS-5', 'a proposal with a member more is refused', invalid, request({ urgent: true })],
    ['INTERACTIONS-5', 'a proposal without action is refused', invalid, request({ action: undefined })],
    ['INTERACTIONS-7', 'a text of 32 KiB and a byte is refused', invalid, { body: { text: 'x'.repeat(32_769) } }],
  ];
}

function bindingCases({ peer, quiet, answerer, target }: Stage): Case[] {
  const invalid = ['interaction_invalid'];
  const minted = ['mint_foreign_domain'];
  const { tag } = peer.agent('one');
  const request = (change: Record<string, unknown>): Partial<EnvelopeDraft> => ({
    type: 'request',
    body: { proposal: proposalOf(peer, change) },
  });
  const elsewhere = mintId('conv', tag, 'elsewhere.test');
  return [
    [
      'INTERACTIONS-8',
      "an unknown conversation in a third domain's name is refused",
      minted,
      { header: { conversation_id: elsewhere } },
    ],
    [
      'INTERACTIONS-8',
      "an unknown conversation in the target's name is refused",
      minted,
      { header: { conversation_id: mintId('conv', tag, target.domain) } },
    ],
    [
      'NAMES-13',
      "a conversation minted in another's name is refused",
      minted,
      { header: { conversation_id: mintId('conv', tag, target.domain) } },
    ],
    ['INTERACTIONS-10', 'a request with two recipients is refused', invalid, { ...request({}), to: [quiet, answerer] }],
    [
      'INTERACTIONS-11',
      "a commitment minted in another's name is refused",
      minted,
      request({ commitment_id: mintId('cmt', tag, target.domain) }),
    ],
  ];
}

function reportCases({ peer }: Stage): Case[] {
  const invalid = ['interaction_invalid'];
  return [
    [
      'INTERACTIONS-13',
      '17 pieces of evidence are refused',
      invalid,
      report(
        peer,
        Array.from({ length: 17 }, () => evidence('x')),
      ),
    ],
    [
      'INTERACTIONS-13',
      'a piece of 16 KiB and a byte is refused',
      invalid,
      report(peer, [evidence('x'.repeat(16_385))]),
    ],
    [
      'INTERACTIONS-14',
      'evidence with the digest of something else is refused',
      invalid,
      report(peer, [{ ...evidence('x'), digest: digestOf('y') }]),
    ],
    [
      'COMMITMENTS-9',
      'a report for an unknown commitment makes nothing',
      ['commitment_unknown'],
      report(peer, [evidence('x')]),
    ],
  ];
}

function nameCases({ peer }: Stage): Case[] {
  const invalid = ['interaction_invalid'];
  const request = (change: Record<string, unknown>): Partial<EnvelopeDraft> => ({
    type: 'request',
    body: { proposal: proposalOf(peer, change) },
  });
  const resolvedBy = (domain: string) => request({ resolver: `agent://${domain}/agents/judge` });
  return [
    ['ENCODING-12', 'a subject of 513 characters is refused', invalid, request({ subject: 'x'.repeat(513) })],
    ['NAMES-2', 'a label with -- that is no A-label is refused', invalid, resolvedBy('ab--cd.test')],
    ['NAMES-2', 'an A-label that does not come back is refused', invalid, resolvedBy('xn--a.test')],
    ['NAMES-1', 'a domain of one label is refused', invalid, resolvedBy('localhost')],
    ['NAMES-1', 'a domain whose last label is all digits is refused', invalid, resolvedBy('10.0.0.1')],
  ];
}

function evidence(content: string): Record<string, unknown> {
  return { name: 'note', digest: digestOf(content), content_type: 'text/plain', content };
}

function report(peer: PlayedDomain, pieces: readonly unknown[]): Partial<EnvelopeDraft> {
  const commitment_id = mintId('cmt', peer.agent('one').tag, peer.name);
  return {
    type: 'report',
    body: { commitment_id, proposal_digest: digestOf('x'), summary: 'done', evidence: pieces, previous: '' },
  };
}
