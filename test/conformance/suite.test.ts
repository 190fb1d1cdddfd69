// The suite against our own server: a real start on a real PostgreSQL, and nothing is expected to fail.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scenarios } from '../../conformance/scenarios/index.js';
import { type ConformanceTarget, startConformanceTarget } from './conformance-target.js';

let target: ConformanceTarget;

beforeAll(async () => {
  target = await startConformanceTarget();
}, 120_000);
afterAll(() => target.stop());

test('every check holds, and none is left out', { timeout: 240_000 }, async () => {
  const { summary } = await target.play();
  const faults = summary.verdicts.flatMap(({ observations }) =>
    observations
      .filter(({ outcome }) => outcome !== 'passed')
      .map(({ id, scenario, what, detail }) => `${id} ${scenario}: ${what}: ${detail}`),
  );
  expect(faults).toEqual([]);
  const declared = new Set(scenarios.flatMap(({ checks }) => checks));
  expect(summary.counts).toMatchObject({ passed: declared.size, failed: 0, skipped: 0, warned: 0 });
  expect(summary.ok).toBe(true);
});

test('without the set-up it runs what it can and says what it left out', { timeout: 120_000 }, async () => {
  const { summary } = await target.play({ withSetup: false, originDomain: 'unreachable.test' });
  expect(summary.counts.failed).toBe(0);
  expect(summary.counts.passed).toBeGreaterThan(20);
  expect(summary.counts.skipped).toBeGreaterThan(80);
  const reasons = new Set(
    summary.verdicts.filter(({ outcome }) => outcome === 'skipped').map(({ observations }) => observations[0]?.detail),
  );
  expect([...reasons].join('\n')).toContain('does not reach unreachable.test');
});
