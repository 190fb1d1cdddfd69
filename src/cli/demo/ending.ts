/** The ending every round must have, judged from both databases and from the outside world, never from what the domains say. */
import type { Clock, Sql } from '../../platform/index.js';
import type { CountingServer } from './counting-server.js';
import { type CommitmentRow, countEffects, countRuns, countUnsettled, readCommitments } from './store.js';

export interface Ending {
  fulfilledOnBothSides: number;
  /** Promises whose signed transitions are not the same set in both logs. */
  logsThatDiffer: number;
  kinds: string;
  alphaRuns: { completed: number; continued: number };
  betaRuns: { completed: number };
  alphaEffects: Record<string, number>;
  betaEffects: Record<string, number>;
  unsettled: number;
  live: number;
  doneOutside: number;
}

export interface Witnesses {
  alpha: Sql;
  beta: Sql;
  outside: CountingServer;
}

async function readEnding({ alpha, beta, outside }: Witnesses): Promise<Ending> {
  const [ours, theirs] = [await readCommitments(alpha), await readCommitments(beta)];
  const [alphaRuns, betaRuns] = [await countRuns(alpha), await countRuns(beta)];
  const fulfilled = ours.filter((row) => isFulfilled(row) && isFulfilled(same(theirs, row)));
  return {
    fulfilledOnBothSides: fulfilled.length,
    logsThatDiffer: ours.filter((row) => `${row.transitions}` !== `${same(theirs, row)?.transitions}`).length,
    kinds: [...new Set(ours.map((row) => row.kinds.join(' → ')))].join(' | '),
    alphaRuns: { completed: alphaRuns.completed, continued: alphaRuns.continued },
    betaRuns: { completed: betaRuns.completed },
    alphaEffects: await countEffects(alpha),
    betaEffects: await countEffects(beta),
    unsettled: (await countUnsettled(alpha)) + (await countUnsettled(beta)),
    live: alphaRuns.live + betaRuns.live,
    doneOutside: outside.done(),
  };
}

function same(rows: CommitmentRow[], row: CommitmentRow): CommitmentRow | undefined {
  return rows.find((candidate) => candidate.commitmentId === row.commitmentId);
}

function isFulfilled(row: CommitmentRow | undefined): boolean {
  return row?.localAssessment === 'fulfilled';
}

/** What differs from the one right ending after `rounds` journeys; empty when it is reached. */
function differences(ending: Ending, rounds: number): string[] {
  const expected: [string, unknown, unknown][] = [
    ['promises fulfilled in both databases', ending.fulfilledOnBothSides, rounds],
    ['promises whose logs differ', ending.logsThatDiffer, 0],
    ['transitions of a promise', ending.kinds, 'request → accept_proposal → report → accept_report'],
    ['continuations in alpha.test', ending.alphaRuns.continued, rounds],
    ['completed runs in alpha.test', ending.alphaRuns.completed, rounds],
    ['completed runs in beta.test', ending.betaRuns.completed, rounds],
    ['effects in alpha.test', show(ending.alphaEffects), show(expectedAlphaEffects(rounds))],
    ['effects in beta.test', show(ending.betaEffects), show(expectedBetaEffects(rounds))],
    ['undelivered messages', ending.unsettled, 0],
    ['live runs', ending.live, 0],
    ['things done in the outside world', ending.doneOutside, rounds],
  ];
  return expected
    .filter(([, found, wanted]) => found !== wanted)
    .map(([what, found, wanted]) => `${what}: ${found}, not ${wanted}`);
}

function expectedAlphaEffects(rounds: number): Record<string, number> {
  return { 'interaction.accept succeeded': rounds, 'interaction.request succeeded': rounds };
}

function expectedBetaEffects(rounds: number): Record<string, number> {
  return {
    'http.post succeeded': rounds,
    'interaction.accept succeeded': rounds,
    'interaction.report succeeded': rounds,
  };
}

function show(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

/** Waits for the ending; a database that is down just now is asked again. Gives what is still wrong after the limit. */
export async function awaitEnding(
  witnesses: Witnesses,
  rounds: number,
  { clock, limitMs, onLook }: { clock: Clock; limitMs: number; onLook: () => Promise<void> },
): Promise<{ ending: Ending | undefined; wrong: string[] }> {
  const until = clock.monotonicMs() + limitMs;
  let ending: Ending | undefined;
  let wrong = ['no database could be read'];
  while (clock.monotonicMs() < until) {
    await onLook().catch(() => undefined);
    ending = await readEnding(witnesses).catch(() => undefined);
    wrong = ending ? differences(ending, rounds) : ['a database is down'];
    if (ending && wrong.length === 0) break;
    await clock.sleep(100);
  }
  return { ending, wrong };
}
