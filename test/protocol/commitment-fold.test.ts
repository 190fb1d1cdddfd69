import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Digest, digestOf, TRANSITION_KINDS, toUtf8 } from '../../src/protocol/index.js';
import {
  accept,
  DEADLINE_MS,
  dispute,
  fold,
  fulfil,
  JUDGE,
  proposal,
  type Role,
  report,
  request,
  stateOf,
  step,
} from './commitment-fixtures.js';
import { messageId, WORKER } from './fixtures.js';

describe('the fold', () => {
  test('nothing folds to nothing', () => expect(fold([])).toEqual({ view: undefined, applied: [], refused: [] }));

  test('D15 the whole road ends fulfilled, whatever the order of arrival', () => {
    const road = [request, accept, report, fulfil];
    fc.assert(
      fc.property(fc.shuffledSubarray(road, { minLength: 4 }), (shuffled) => {
        const { view, refused } = fold([...shuffled, ...shuffled.slice(0, 2)]);
        expect(view?.state).toBe('fulfilled');
        expect(refused).toEqual([]);
      }),
      { seed: 17, numRuns: 50 },
    );
  });

  test('any set of transitions folds to one view, whatever the order of arrival', () => {
    const kinds = fc.constantFrom(...TRANSITION_KINDS);
    const roles = fc.constantFrom<Role>('creditor', 'debtor', 'resolver', 'stranger');
    const heads = fc.constantFrom<Digest | ''>('', request.digest, accept.digest, report.digest, dispute.digest);
    const any = fc
      .record({ kind: kinds, by: roles, at: fc.integer({ min: 0, max: 90_000 }), previous: heads })
      .map(step);
    const some = fc.array(any, { maxLength: 8 }).map((extra) => [request, accept, report, dispute, ...extra]);
    fc.assert(
      fc.property(
        some.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          expect(fold(shuffled, 90_001)).toEqual(fold(all, 90_001));
        },
      ),
      { seed: 18, numRuns: 300 },
    );
  });

  test('every state of the fold follows from its applied transitions alone', () => {
    const late = step({ kind: 'revoke', by: 'creditor', at: 5, previous: request.digest });
    const { view, applied, refused } = fold([accept, report, request, late]);
    expect(view?.state).toBe('canceled');
    expect(applied).toEqual([request, late]);
    expect(refused.map(({ refusal }) => refusal.reason)).toEqual(['commitment_wrong_state', 'commitment_wrong_state']);
    expect(fold([...applied]).view).toEqual(view);
  });

  test('overdue is computed from the deadline, and a late report stays possible', () => {
    expect(stateOf([request, accept], DEADLINE_MS)).toBe('active');
    expect(stateOf([request, accept], DEADLINE_MS + 1)).toBe('overdue');
    const lateReport = step({ kind: 'report', by: 'debtor', at: DEADLINE_MS + 5, previous: accept.digest });
    const { view } = fold([request, accept, lateReport], DEADLINE_MS + 10);
    expect(view).toMatchObject({ state: 'reported', reports: [{ late: true }] });
    expect(fold([request, accept, report], DEADLINE_MS + 10).view).toMatchObject({
      state: 'reported',
      reports: [{ late: false }],
    });
  });

  test('a report that was issued before the deadline beats a verdict of violation issued after it', () => {
    const verdict = step({ kind: 'resolve_violated', by: 'creditor', at: DEADLINE_MS + 5, previous: request.digest });
    expect(stateOf([request, accept, verdict], DEADLINE_MS + 10)).toBe('violated');
    expect(stateOf([verdict, report, request, accept], DEADLINE_MS + 10)).toBe('reported');
    const early = step({ kind: 'resolve_violated', by: 'creditor', at: 50, previous: request.digest });
    expect(stateOf([request, accept, early], DEADLINE_MS + 10)).toBe('overdue');
  });

  test('a proposal without a deadline is never overdue', () => {
    const { deadline, ...endless } = proposal;
    expect(deadline).toBeDefined();
    const open = step({ kind: 'request', by: 'creditor', at: 0, change: { proposal: endless } });
    expect(stateOf([open, accept], 1e12)).toBe('active');
  });

  test('a second proposal under the same commitment makes nothing', () => {
    const second = step({ kind: 'request', by: 'creditor', at: 1, change: { debtor: JUDGE } });
    expect(fold([second, request]).view?.debtor).toBe(WORKER);
  });

  test('an author who forks the log is heard once', () => {
    const other = step({ kind: 'reject', by: 'debtor', at: 11 });
    expect(stateOf([request, accept, other])).toBe('active');
  });

  test('a newer report answers a dispute, and only it can be disputed again', () => {
    const change = { messageId: messageId(), bodyDigest: digestOf(toUtf8('better')) };
    const better = step({ kind: 'report', by: 'debtor', at: 40, previous: report.digest, change });
    expect(stateOf([request, accept, report, dispute, better])).toBe('reported');
    const stale = step({ kind: 'dispute', by: 'creditor', at: 50, previous: dispute.digest });
    expect(stateOf([request, accept, report, dispute, better, stale])).toBe('reported');
    const old = step({ kind: 'accept_report', by: 'creditor', at: 60, previous: dispute.digest });
    expect(stateOf([request, accept, report, dispute, better, old])).toBe('fulfilled');
  });
});
