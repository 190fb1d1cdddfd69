// What a command may touch outside itself. The entry hands in the real one, tests hand in theirs.
import type { Clock, Random } from '../platform/index.js';

export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
  /** Standard output: answers only, so that a program can read them. */
  out(text: string): void;
  /** Standard error: everything said beside the answer. */
  err(text: string): void;
}

/** Options that every command which speaks to a running domain understands. */
export interface CommonOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly json?: boolean;
}
