// Failures that are known: a file of ids, one a line, `#` before remarks. An entry that passes is an error, as is an unknown id.
import { readFileSync } from 'node:fs';

export function readExpectedFailures(file: string): ReadonlySet<string> {
  const lines = readFileSync(file, 'utf8').split('\n');
  return new Set(lines.map((line) => line.replace(/#.*/, '').trim()).filter((line) => line !== ''));
}

export interface StaleEntry {
  readonly id: string;
  readonly fault: string;
}

export interface Compared {
  readonly known: ReadonlySet<string>;
  readonly outcomeOf: (id: string) => 'passed' | 'failed' | 'warned' | 'skipped' | undefined;
}

/** What is wrong with the file itself. What was skipped or not asked for says nothing about an entry. */
export function staleEntries(expected: ReadonlySet<string>, { known, outcomeOf }: Compared): StaleEntry[] {
  return [...expected].flatMap((id): StaleEntry[] => {
    if (!known.has(id)) return [{ id, fault: 'is no requirement of the specification' }];
    return outcomeOf(id) === 'passed' ? [{ id, fault: 'is expected to fail and passes: take it out' }] : [];
  });
}
