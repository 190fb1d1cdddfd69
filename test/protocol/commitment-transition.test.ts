import { describe, expect, test } from 'vitest';
import {
  applyTransition,
  COMMITMENT_STATES,
  type CommitmentTransition,
  type CommitmentView,
  decideTransition,
  digestOf,
  encodeInteraction,
  foldCommitment,
  INTERACTION_MEDIA_TYPE,
  type Interaction,
  openEnvelope,
  sealEnvelope,
  TRANSITION_KINDS,
  TRANSITION_TABLE,
  type TransitionKind,
  transitionOf,
} from '../../src/protocol/index.js';
import {
  AUTHORS,
  accept,
  DEADLINE_MS,
  PROPOSAL_DIGEST,
  proposal,
  REPORT_DIGEST,
  REPORT_ID,
  type Role,
  request,
  stateOf,
  step,
  viewIn,
} from './commitment-fixtures.js';
import { AGENT_KEY, ASKER, ASKER_ID, COMMITMENT, envelopeDraft, messageId, NOW, PROPOSAL, WORKER } from './fixtures.js';

describe('the transition table', () => {
  const roles: Role[] = ['creditor', 'debtor', 'resolver', 'stranger'];
  const cases = COMMITMENT_STATES.flatMap((state) =>
    TRANSITION_KINDS.flatMap((kind) => roles.map((by) => [state, kind, by] as const)),
  );

  test.each(COMMITMENT_STATES)('the state %s can be reached', (state) => expect(viewIn(state).state).toBe(state));

  test.each(cases)('in %s a %s by the %s does what the table says', (state, kind, by) => {
    const view = viewIn(state);
    const at = state === 'overdue' ? DEADLINE_MS + 2 : 50;
    const withReport = kind === 'accept_report' || kind === 'dispute';
    const transition = step({ kind, by, at, previous: view.heads[AUTHORS[by]] ?? '' });
    const row = TRANSITION_TABLE.find(
      (entry) =>
        entry.from === state &&
        entry.kind === kind &&
        (entry.by === by || (entry.by === 'both' && (by === 'creditor' || by === 'debtor'))),
    );
    const decision = decideTransition(view, transition);
    if (!row) {
      expect(decision.ok).toBe(false);
      if (!decision.ok && by === 'stranger') expect(decision.reason).toBe('commitment_wrong_party');
      if (!decision.ok && withReport && view.reports.length === 0 && by !== 'stranger') {
        expect(decision.reason).toBe('commitment_wrong_digest');
      }
    } else if (row.by === 'both') {
      expect(decision).toEqual({ ok: true, to: state === 'overdue' ? 'active' : state });
    } else {
      expect(decision).toEqual({ ok: true, to: row.to });
    }
  });

  test('only the debtor reports, only the creditor accepts or disputes a report', () => {
    const makers = (kind: TransitionKind) =>
      new Set(TRANSITION_TABLE.filter((row) => row.kind === kind).map(({ by }) => by));
    expect(makers('report')).toEqual(new Set(['debtor']));
    expect(makers('accept_report')).toEqual(new Set(['creditor']));
    expect(makers('dispute')).toEqual(new Set(['creditor']));
    expect(makers('cancel')).toEqual(new Set(['both']));
  });

  test.each(['rejected', 'canceled', 'fulfilled', 'violated'] as const)('%s has no way out', (state) => {
    expect(TRANSITION_TABLE.filter(({ from }) => from === state)).toEqual([]);
  });

  test('a cancel takes effect when both have asked for it', () => {
    const mine = step({ kind: 'cancel', by: 'creditor', at: 15, previous: request.digest });
    const again = step({ kind: 'cancel', by: 'creditor', at: 16, previous: mine.digest });
    const theirs = step({ kind: 'cancel', by: 'debtor', at: 17, previous: accept.digest });
    expect(stateOf([request, accept, mine])).toBe('active');
    expect(stateOf([request, accept, mine, again])).toBe('active');
    expect(stateOf([request, accept, mine, theirs])).toBe('canceled');
  });
});

describe('binding', () => {
  const proposed = viewIn('proposed');
  const reason = (view: CommitmentView | undefined, transition: CommitmentTransition) => {
    const decision = decideTransition(view, transition);
    return decision.ok ? decision.to : decision.reason;
  };
  const accepting = (change: Record<string, unknown>) =>
    step({ kind: 'accept_proposal', by: 'debtor', at: 10, change });

  test('D15 an accept binds the proposal id, its version and its digest', () => {
    expect(reason(proposed, accept)).toBe('active');
    expect(reason(proposed, accepting({ version: 2 }))).toBe('commitment_wrong_digest');
    expect(reason(proposed, accepting({ proposalId: 'prop_other' }))).toBe('commitment_wrong_digest');
    expect(reason(proposed, accepting({ proposalDigest: REPORT_DIGEST }))).toBe('commitment_wrong_digest');
  });

  test('D15 an accept for an unknown proposal, by the asker or by a third party makes nothing', () => {
    expect(reason(undefined, accept)).toBe('commitment_unknown');
    expect(reason(proposed, step({ kind: 'accept_proposal', by: 'stranger', at: 10 }))).toBe('commitment_wrong_party');
    expect(reason(proposed, step({ kind: 'accept_proposal', by: 'creditor', at: 10, previous: request.digest }))).toBe(
      'commitment_wrong_party',
    );
  });

  test('the principal decides: an address given to somebody else is no party', () => {
    const active = viewIn('active');
    const taken = step({
      kind: 'report',
      by: 'debtor',
      at: 20,
      previous: accept.digest,
      change: { authorPrincipalId: ASKER_ID },
    });
    expect(reason(active, taken)).toBe('commitment_wrong_party');
  });

  test('accepting a report binds its message id and digest', () => {
    const reported = viewIn('reported');
    const judging = (change: Record<string, unknown>) =>
      step({ kind: 'accept_report', by: 'creditor', at: 30, previous: request.digest, change });
    expect(reason(reported, judging({}))).toBe('fulfilled');
    expect(reason(reported, judging({ reportDigest: PROPOSAL_DIGEST }))).toBe('commitment_wrong_digest');
    expect(reason(reported, judging({ reportMessageId: messageId() }))).toBe('commitment_wrong_digest');
  });

  test('a transition that does not follow the head of its author is refused', () => {
    expect(reason(viewIn('active'), step({ kind: 'report', by: 'debtor', at: 20 }))).toBe(
      'commitment_previous_mismatch',
    );
    expect(reason(viewIn('active'), step({ kind: 'report', by: 'debtor', at: 20, previous: PROPOSAL_DIGEST }))).toBe(
      'commitment_previous_mismatch',
    );
  });

  test('a transition of another commitment is refused, and applying what is refused throws', () => {
    const foreign = accepting({ commitmentId: 'cmt_other' });
    expect(reason(proposed, foreign)).toBe('commitment_unknown');
    expect(() => applyTransition(proposed, foreign)).toThrow(/commitment_unknown/);
  });
});

describe('transitions from envelopes', () => {
  async function carried(interaction: Interaction) {
    const body = encodeInteraction(interaction);
    const draft = envelopeDraft({ interaction_type: interaction.type, content_type: INTERACTION_MEDIA_TYPE });
    const opened = openEnvelope(await sealEnvelope(draft, body, AGENT_KEY.sign));
    if (!opened.ok) throw new TypeError(opened.detail);
    return { opened, body, transition: transitionOf({ ...opened, senderPrincipalId: ASKER_ID }, interaction) };
  }

  test('a request opens a commitment over the digest of its exact body', async () => {
    const { opened, body, transition } = await carried({ type: 'request', body: { proposal } });
    expect(transition).toMatchObject({
      kind: 'request',
      author: ASKER,
      debtor: WORKER,
      previous: '',
      digest: opened.headerDigest,
      bodyDigest: digestOf(body),
      commitmentId: COMMITMENT,
    });
    if (!transition) throw new TypeError('no transition');
    expect(foldCommitment([transition], NOW).view).toMatchObject({
      state: 'proposed',
      creditor: ASKER,
      debtor: WORKER,
      proposalDigest: digestOf(body),
    });
  });

  test('a message is no transition', async () => {
    expect((await carried({ type: 'message', body: { text: 'ok, I will do it' } })).transition).toBeUndefined();
  });

  const binding = { commitment_id: COMMITMENT, proposal_id: PROPOSAL, version: 3, proposal_digest: PROPOSAL_DIGEST };
  test.each<[TransitionKind, Interaction]>([
    ['accept_proposal', { type: 'accept', body: { accepts: 'proposal', ...binding, previous: '' } }],
    ['reject', { type: 'reject', body: { ...binding, reason: 'busy', previous: '' } }],
    [
      'accept_report',
      {
        type: 'accept',
        body: {
          accepts: 'report',
          commitment_id: COMMITMENT,
          report_message_id: REPORT_ID,
          report_digest: REPORT_DIGEST,
          previous: REPORT_DIGEST,
        },
      },
    ],
    [
      'report',
      {
        type: 'report',
        body: {
          commitment_id: COMMITMENT,
          proposal_digest: PROPOSAL_DIGEST,
          summary: 'done',
          evidence: [],
          previous: REPORT_DIGEST,
        },
      },
    ],
  ])('%s carries its binding and its place in the chain', async (kind, interaction) => {
    const { transition } = await carried(interaction);
    expect(transition).toMatchObject({ kind, commitmentId: COMMITMENT });
    expect(transition?.previous).toBe('previous' in interaction.body ? interaction.body.previous : undefined);
  });
});
