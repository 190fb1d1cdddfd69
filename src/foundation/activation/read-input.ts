/** What became of an input: one disposition per candidate, and the runs that took it (F3). */
import type { Sql } from '../../platform/index.js';
import { homeOf } from '../../protocol/index.js';
import { type InputRecord, selectInput } from '../input/index.js';
import { type CandidateRecord, selectCandidatesOf } from './candidate-store.js';

/** Whose inputs and runs a caller may see. */
export interface Reader {
  tenant: string;
  homes: readonly string[] | 'all';
}

export type Disposition = Pick<
  CandidateRecord,
  'home' | 'route' | 'sessionId' | 'decision' | 'policyId' | 'reason' | 'status' | 'runId' | 'decidedAt'
> & { candidateId: string };

export interface InputView {
  input: InputRecord;
  /** Empty until the input has been resolved. */
  dispositions: Disposition[];
  /** Candidates that a run has taken or will take. */
  activationRefs: string[];
  runRefs: string[];
  /** There are more dispositions than these: `readDispositions` has them all. */
  more: boolean;
}

/** Dispositions that stand with the input itself. */
export const dispositionsShown = 100;

/** Undefined for what does not exist and for what the caller may not see alike. */
export async function readInput(sql: Sql, id: string, { caller }: { caller: Reader }): Promise<InputView | undefined> {
  const input = await selectInput(sql, homeOf(id) ?? '', id);
  if (!input || !mayRead(caller, input)) return undefined;
  return viewOf(input, await selectCandidatesOf(sql, { inputId: id, limit: dispositionsShown + 1 }));
}

export interface ReadDispositions {
  caller: Reader;
  /** The candidate that the page before ended with. */
  after?: string | undefined;
  limit: number;
}

/** In the order of the candidates' ids; undefined for what `readInput` answers so. */
export async function readDispositions(
  sql: Sql,
  id: string,
  { caller, after, limit }: ReadDispositions,
): Promise<Disposition[] | undefined> {
  const input = await selectInput(sql, homeOf(id) ?? '', id);
  if (!input || !mayRead(caller, input)) return undefined;
  return (await selectCandidatesOf(sql, { inputId: id, after, limit })).map(dispositionOf);
}

export function viewOf(input: InputRecord, found: readonly CandidateRecord[]): InputView {
  const candidates = found.slice(0, dispositionsShown);
  return {
    input,
    more: found.length > candidates.length,
    dispositions: candidates.map(dispositionOf),
    activationRefs: candidates.filter(({ status }) => status !== 'settled').map((candidate) => candidate.id),
    runRefs: [...new Set(candidates.flatMap(({ runId }) => (runId === null ? [] : [runId])))],
  };
}

export function mayRead({ tenant, homes }: Reader, record: { tenant: string; home: string }): boolean {
  return tenant === record.tenant && (homes === 'all' || homes.includes(record.home));
}

function dispositionOf(candidate: CandidateRecord): Disposition {
  const { id, home, route, sessionId, decision, policyId, reason, status, runId, decidedAt } = candidate;
  return { candidateId: id, home, route, sessionId, decision, policyId, reason, status, runId, decidedAt };
}
