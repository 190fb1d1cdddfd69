/**
 * Group commit: work that comes while other work of its kind is under way is done together with what else came meanwhile.
 * One batch at a time, so that no two batches wait for each other's locks. `work` answers one result for each of what it
 * was given, in their order; when it throws, all of that batch meet the error.
 */
import { nextTurn } from './next-turn.js';

export interface GatherOptions<Given, Done> {
  /** The most that one batch holds. */
  atOnce: number;
  work(batch: readonly Given[]): Promise<readonly Done[]>;
}

interface Waiting<Given, Done> {
  given: Given;
  resolve(done: Done): void;
  reject(error: unknown): void;
}

export function gather<Given, Done>({ atOnce, work }: GatherOptions<Given, Done>): (given: Given) => Promise<Done> {
  const waiting: Waiting<Given, Done>[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    // What one event sets off comes within one turn.
    await nextTurn();
    while (waiting.length > 0) await doBatch(work, waiting.splice(0, atOnce));
    running = false;
  }

  return (given) =>
    new Promise((resolve, reject) => {
      waiting.push({ given, resolve, reject });
      if (!running) void run();
    });
}

async function doBatch<Given, Done>(
  work: GatherOptions<Given, Done>['work'],
  batch: readonly Waiting<Given, Done>[],
): Promise<void> {
  try {
    const done = await work(batch.map(({ given }) => given));
    if (done.length !== batch.length) throw new Error(`${done.length} results for ${batch.length} of a batch`);
    for (const [place, { resolve }] of batch.entries()) resolve(done[place] as Done);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
