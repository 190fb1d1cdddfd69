// A whole run: the stage, scenario after scenario, and the verdicts. Bounded in time as a whole and for each scenario.
import type { Requirement } from './requirements.js';
import { type Observation, runScenario, type Scenario } from './scenario.js';
import { openStage, type Stage, type StageOptions } from './stage.js';
import { judge, type Summary } from './verdict.js';

export interface RunOptions extends StageOptions {
  readonly scenarios: readonly Scenario[];
  readonly requirements: ReadonlyMap<string, Requirement>;
  readonly expected: ReadonlySet<string>;
  /** Names of scenarios or ids; everything when empty. */
  readonly only: readonly string[];
  readonly timeoutMs: number;
  readonly progress: (line: string) => void;
}

export interface Run {
  readonly summary: Summary;
  readonly domain: string;
}

const scenarioMs = 60_000;

export async function runConformance(options: RunOptions): Promise<Run> {
  const chosen = chooseScenarios(options.scenarios, options.only);
  const stage = await openStage(options);
  const observations: Observation[] = [];
  try {
    const endMs = performance.now() + options.timeoutMs;
    for (const [index, scenario] of chosen.entries()) {
      const startMs = performance.now();
      const before = observations.length;
      const leftMs = endMs - startMs;
      await oneScenario(scenario, { stage, leftMs, note: (observation) => observations.push(observation) });
      const own = observations.slice(before);
      const count = (outcome: Observation['outcome']) => own.filter((entry) => entry.outcome === outcome).length;
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      options.progress(
        `[${index + 1}/${chosen.length}] ${scenario.name}: ${count('passed')} hold, ${count('failed')} do not, ${count('skipped')} left out (${seconds} s)`,
      );
    }
  } finally {
    await stage.close();
  }
  const asked = observations.filter(({ id, scenario }) => isAsked(options.only, scenario, id));
  return { summary: judge(asked, options), domain: stage.target.domain };
}

function chooseScenarios(scenarios: readonly Scenario[], only: readonly string[]): readonly Scenario[] {
  return only.length === 0
    ? scenarios
    : scenarios.filter(({ name, checks }) => only.includes(name) || checks.some((id) => only.includes(id)));
}

function isAsked(only: readonly string[], scenario: string, id: string): boolean {
  return only.length === 0 || only.includes(scenario) || only.includes(id);
}

type One = { stage: Stage; leftMs: number; note: (observation: Observation) => void };

async function oneScenario(scenario: Scenario, { stage, leftMs, note }: One): Promise<void> {
  const missing = scenario.needs.map((need) => stage.missing.get(need)).find((why) => why !== undefined);
  const why = leftMs <= 0 ? 'the time for the whole run was over' : missing;
  if (why === undefined) return runScenario(scenario, { stage, note, timeoutMs: Math.min(leftMs, scenarioMs) });
  // Time that is over proves nothing: a run that did not finish is not a good one.
  const outcome = leftMs <= 0 ? 'failed' : 'skipped';
  for (const id of scenario.checks) note({ scenario: scenario.name, id, what: 'not run', outcome, detail: why });
}
