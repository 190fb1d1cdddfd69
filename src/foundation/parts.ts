/** What a running Foundation is made of. Each journey names, in its own parameter, the parts that it uses. */
import type { Clock, Database, Log, Random, Wakeups } from '../platform/index.js';
import type { Settles } from './activation/index.js';
import type { SharedCommits } from './effect/index.js';
import type { LeaseClock } from './placement/index.js';
import type { AgentDirectory, Authority, EffectAdapters, Placements } from './ports.js';
import type { LiveRuns, RuntimeRegistry } from './runtime/index.js';

export interface FoundationParts {
  db: Database;
  clock: Clock;
  random: Random;
  wakeups: Wakeups;
  log: Log;
  commits: SharedCommits;
  /** How runs end; those that end at the same time share a commit. */
  settles: Settles;
  placements: Placements;
  leaseClock: LeaseClock;
  authority: Authority;
  adapters: EffectAdapters;
  directory: AgentDirectory;
  runtimes: RuntimeRegistry;
  /** This process, as a runtime host; a new one at every start. */
  holder: string;
  /** The runs that this process drives now. */
  live: LiveRuns;
}

/** What waits on which wakeup channel. All of them are hints: each loop also looks by itself. */
export const foundationChannels = {
  inputs: 'inputs',
  runs: 'runs',
  placements: 'placements',
  suspensions: 'suspensions',
  lanes: 'lanes',
  schedules: 'schedules',
} as const;

/** The steps of loops say whether there was more to do than they did. */
export type StepOutcome = 'more' | 'idle';
