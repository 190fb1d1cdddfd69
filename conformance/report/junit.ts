// The report for build servers: a suite for each chapter, a case for each requirement.
import type { Summary, Verdict } from '../verdict.js';

export function junitReport({ verdicts, stale }: Summary): string {
  const chapters = [...new Set(verdicts.map(({ requirement }) => requirement.chapter))];
  const suites = chapters.map((chapter) =>
    suite(
      chapter,
      verdicts.filter((verdict) => verdict.requirement.chapter === chapter),
    ),
  );
  const staleCases = stale.map(
    ({ id, fault }) =>
      `    <testcase name="${escaped(id)}"><failure message="${escaped(`${id} ${fault}`)}"/></testcase>`,
  );
  const own =
    staleCases.length === 0
      ? []
      : [
          `  <testsuite name="expected-failures" tests="${stale.length}" failures="${stale.length}">`,
          ...staleCases,
          '  </testsuite>',
        ];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="hearth-conformance">',
    ...suites.flat(),
    ...own,
    '</testsuites>',
    '',
  ].join('\n');
}

function suite(chapter: string, verdicts: readonly Verdict[]): string[] {
  const failures = verdicts.filter((verdict) => verdict.outcome === 'failed' && !verdict.expected).length;
  const skipped = verdicts.filter((verdict) => isSkipped(verdict)).length;
  return [
    `  <testsuite name="${escaped(chapter)}" tests="${verdicts.length}" failures="${failures}" skipped="${skipped}">`,
    ...verdicts.map(testCase),
    '  </testsuite>',
  ];
}

function isSkipped({ outcome, expected }: Verdict): boolean {
  return outcome === 'skipped' || (outcome === 'failed' && expected);
}

function testCase(verdict: Verdict): string {
  const { id, requirement, outcome, observations } = verdict;
  const faults = observations
    .filter((entry) => entry.outcome !== 'passed')
    .map((entry) => `${entry.what}: ${entry.detail}`);
  const name = escaped(`${id} ${requirement.sentence}`);
  const text = escaped(faults.join('\n'));
  const open = `    <testcase classname="${escaped(requirement.chapter)}" name="${name}">`;
  if (isSkipped(verdict)) return `${open}<skipped message="${text}"/></testcase>`;
  if (outcome === 'failed') return `${open}<failure message="${text}"/></testcase>`;
  if (outcome === 'warned') return `${open}<system-err>${text}</system-err></testcase>`;
  return `${open}</testcase>`;
}

function escaped(text: string): string {
  const marks: Record<string, string> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;', '\n': '&#10;' };
  // Control characters have no place in XML 1.0.
  return [...text]
    .filter((mark) => mark >= ' ' || mark === '\n')
    .map((mark) => marks[mark] ?? mark)
    .join('');
}
