/**
 * A scenario is one course of events; in it stand the checks, each under the id of the requirement that it observes. One
 * requirement may be observed several times: it holds if every observation holds.
 */
import { Mismatch } from './expect.js';
import type { Stage } from './stage.js';

/**
 * What a scenario cannot do without: that the target can reach the played domains, that one of them is pinned and two
 * agents are there, that the private door answers to an operator's token.
 */
export type Need = 'reachable' | 'pinned' | 'operator';

export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly needs: readonly Need[];
  /** The ids that it observes. */
  readonly checks: readonly string[];
  readonly timeoutMs?: number;
  run(stage: Stage, checks: Checks): Promise<void>;
}

export interface Checks {
  /** One observation; what it throws is what does not hold. */
  check(id: string, what: string, observe: () => unknown): Promise<void>;
  /** Why a requirement cannot be observed here. */
  skip(id: string, why: string): void;
}

export type Outcome = 'passed' | 'failed' | 'skipped';

export interface Observation {
  readonly scenario: string;
  readonly id: string;
  readonly what: string;
  readonly outcome: Outcome;
  readonly detail: string;
}

/** What stands for an observation that was never made, because its scenario ended before. */
export const notReached = 'was not reached';

export interface RunScenario {
  readonly stage: Stage;
  readonly timeoutMs: number;
  readonly note: (observation: Observation) => void;
}

export async function runScenario(scenario: Scenario, { stage, timeoutMs, note }: RunScenario): Promise<void> {
  const open = new Set(scenario.checks);
  let over = false;
  const record = (id: string, what: string, end: Pick<Observation, 'outcome' | 'detail'>) => {
    if (!scenario.checks.includes(id)) throw new TypeError(`${scenario.name} does not name ${id} among its checks`);
    if (over) return;
    open.delete(id);
    note({ scenario: scenario.name, id, what, ...end });
  };
  const checks: Checks = {
    async check(id, what, observe) {
      record(id, what, await outcomeOf(observe));
    },
    skip: (id, why) => record(id, 'not observed', { outcome: 'skipped', detail: why }),
  };
  const ended = await within(scenario.run(stage, checks), Math.min(timeoutMs, scenario.timeoutMs ?? timeoutMs));
  for (const id of [...open]) record(id, notReached, { outcome: 'failed', detail: ended });
  over = true;
}

async function outcomeOf(observe: () => unknown): Promise<Pick<Observation, 'outcome' | 'detail'>> {
  try {
    await observe();
    return { outcome: 'passed', detail: '' };
  } catch (error) {
    return { outcome: 'failed', detail: describe(error) };
  }
}

/** Why a scenario ended: well, by an error, or because its time was over. */
async function within(run: Promise<void>, ms: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`the scenario did not end within ${Math.round(ms / 1000)} s`), ms);
  });
  const ended = run.then(
    () => 'the scenario ended without it',
    (error: unknown) => `the scenario ended early: ${describe(error)}`,
  );
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}

function describe(error: unknown): string {
  if (error instanceof Mismatch) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
