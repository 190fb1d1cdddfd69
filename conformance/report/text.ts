// The report for people: what failed and why first, then what was left out, then the counts.
import type { Summary, Verdict } from '../verdict.js';

export function textReport({ verdicts, stale, counts }: Summary): string {
  const of = (outcome: Verdict['outcome']) => verdicts.filter((verdict) => verdict.outcome === outcome);
  const lines = [
    ...section('Failed', of('failed').flatMap(faultLines)),
    ...section('Warnings', of('warned').flatMap(faultLines)),
    ...section('Left out', leftOut(of('skipped'))),
    ...section(
      'Expected failures file',
      stale.map(({ id, fault }) => `  ${id} ${fault}`),
    ),
    `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped` +
      (counts.warned > 0 ? `, ${counts.warned} warnings` : '') +
      (counts.expected > 0 ? `, ${counts.expected} expected failures` : ''),
  ];
  return `${lines.join('\n')}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines, ''];
}

function faultLines({ id, requirement, expected, observations }: Verdict): string[] {
  return [
    `  ${id}${expected ? ' (expected)' : ''} ${requirement.sentence}`,
    ...observations
      .filter(({ outcome }) => outcome === 'failed')
      .map(({ scenario, what, detail }) => `    ${scenario}: ${what}: ${detail}`),
  ];
}

/** Ids with the same reason stand together. */
function leftOut(verdicts: readonly Verdict[]): string[] {
  const byReason = new Map<string, string[]>();
  for (const { id, observations } of verdicts) {
    const reason = observations[0]?.detail ?? '';
    byReason.set(reason, [...(byReason.get(reason) ?? []), id]);
  }
  return [...byReason].map(([reason, ids]) => `  ${reason}: ${ids.join(', ')}`);
}
