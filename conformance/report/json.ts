// The report for programs.
import type { Summary } from '../verdict.js';

export interface About {
  readonly target: string;
  readonly domain: string;
  readonly startedAt: string;
  readonly durationMs: number;
}

export function jsonReport({ verdicts, stale, counts, ok }: Summary, about: About): string {
  const report = {
    format: 'hearth-conformance/1',
    target: about.target,
    domain: about.domain,
    started_at: about.startedAt,
    duration_ms: about.durationMs,
    ok,
    counts,
    stale_expected_failures: stale,
    requirements: verdicts.map(({ id, requirement, outcome, expected, observations }) => ({
      id,
      keyword: requirement.keyword,
      chapter: requirement.chapter,
      sentence: requirement.sentence,
      outcome,
      expected_to_fail: expected,
      observations: observations.map(({ scenario, what, outcome: end, detail }) => ({
        scenario,
        what,
        outcome: end,
        ...(detail === '' ? {} : { detail }),
      })),
    })),
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}
