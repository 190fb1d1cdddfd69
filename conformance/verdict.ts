// What a run amounts to: one verdict for each requirement, from everything that was observed about it.
import { type StaleEntry, staleEntries } from './expected-failures.js';
import type { Requirement } from './requirements.js';
import type { Observation } from './scenario.js';

export interface Verdict {
  readonly id: string;
  readonly requirement: Requirement;
  readonly outcome: 'passed' | 'failed' | 'warned' | 'skipped';
  readonly expected: boolean;
  readonly observations: readonly Observation[];
}

export interface Summary {
  readonly verdicts: readonly Verdict[];
  readonly stale: readonly StaleEntry[];
  readonly counts: Readonly<Record<Verdict['outcome'] | 'expected', number>>;
  /** No failure that is not expected, and no stale entry. */
  readonly ok: boolean;
}

export interface Judge {
  readonly requirements: ReadonlyMap<string, Requirement>;
  readonly expected: ReadonlySet<string>;
}

export function judge(observations: readonly Observation[], { requirements, expected }: Judge): Summary {
  const verdicts = [...requirements.values()].flatMap((requirement): Verdict[] => {
    const own = observations.filter(({ id }) => id === requirement.id);
    if (own.length === 0) return [];
    const outcome = outcomeOf(own, requirement);
    return [{ id: requirement.id, requirement, outcome, observations: own, expected: expected.has(requirement.id) }];
  });
  const stale = staleEntries(expected, {
    known: new Set(requirements.keys()),
    outcomeOf: (id) => verdicts.find((verdict) => verdict.id === id)?.outcome,
  });
  const count = (outcome: Verdict['outcome']) =>
    verdicts.filter((verdict) => verdict.outcome === outcome && !(verdict.expected && outcome === 'failed')).length;
  const counts = {
    passed: count('passed'),
    failed: count('failed'),
    warned: count('warned'),
    skipped: count('skipped'),
    expected: verdicts.filter((verdict) => verdict.expected && verdict.outcome === 'failed').length,
  };
  return { verdicts, stale, counts, ok: counts.failed === 0 && stale.length === 0 };
}

/** MUST fails, SHOULD warns; what was observed once and held is passed, whatever could not be observed beside it. */
function outcomeOf(observations: readonly Observation[], { keyword }: Requirement): Verdict['outcome'] {
  if (observations.some(({ outcome }) => outcome === 'failed')) return keyword === 'MUST' ? 'failed' : 'warned';
  return observations.some(({ outcome }) => outcome === 'passed') ? 'passed' : 'skipped';
}
