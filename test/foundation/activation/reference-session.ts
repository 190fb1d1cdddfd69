// One session of the reference: its state, its lane, its runs and its wait, and what each step makes of them.
import { type ActivationFacts, laneLimits, runLimits } from '../../../src/foundation/index.js';

export interface RefAgent {
  whenActive: ActivationFacts['whenActive'];
  runtime: ActivationFacts['runtime'];
  laneOrder: 'arrival' | 'priority';
  merges: boolean;
}

export interface RefInput {
  kind: ActivationFacts['kind'];
  type: string;
  subject: string | undefined;
  historical: boolean;
  priority: 'urgent' | 'normal' | 'bulk';
  /** A run that is told of it does not take it. */
  refused: boolean;
  agent?: number;
  control?: { verb: NonNullable<ActivationFacts['controlVerb']>; session: number; run: number | undefined };
}

export interface RefCandidate {
  input: number;
  route: ActivationFacts['route'];
  decision: string;
  reason: string;
  status: string;
  session: number | undefined;
  run: number | undefined;
  rank: number;
  mergeKey: string | undefined;
  held: boolean;
}

export interface RefRun {
  candidates: RefCandidate[];
  status: string;
  attempt: number;
  resumedFrom: number | undefined;
  retryOf: number | undefined;
  cursor: number;
  told: { candidate: RefCandidate; taken: boolean }[];
  cancelWanted: boolean;
  /** Not begun yet: by the next rest it is. */
  queued: boolean;
}

export interface RefSession {
  /** What leads to it; undefined for branches and for work without a subject. */
  key: string | undefined;
  /** What its runs wait for. */
  subject: string | undefined;
  state: 'idle' | 'active' | 'suspended';
  laneHeld: boolean;
  overtakes: number;
  lane: RefCandidate[];
  runs: RefRun[];
  wait: { run: number; cursor: number; subject: string | undefined } | undefined;
}

export interface RefWorld {
  settings: RefAgent;
  sessions: RefSession[];
  candidates: RefCandidate[];
}

export type RefEnding = 'completed' | 'failed' | 'budget_exceeded' | 'suspended';
export const answerType = 'test.answer';

export function newSession(key: string | undefined, subject: string | undefined): RefSession {
  const empty = { laneHeld: false, overtakes: 0, lane: [], runs: [], wait: undefined };
  return { key, subject, state: 'idle', ...empty };
}

export function begin(
  session: RefSession,
  candidates: RefCandidate[],
  over: Partial<RefRun> & { cursor: number },
): void {
  for (const candidate of candidates) {
    candidate.status = 'running';
    candidate.run = session.runs.length;
  }
  const fresh = {
    status: 'running',
    attempt: 1,
    resumedFrom: undefined,
    retryOf: undefined,
    cancelWanted: false,
    queued: true,
  };
  session.runs.push({ ...fresh, told: [], candidates, ...over });
  session.state = 'active';
  session.laneHeld = false;
}

export function resume(session: RefSession, candidate: RefCandidate): void {
  const { wait } = session;
  if (!wait) throw new Error('nothing waits');
  session.wait = undefined;
  for (const queued of session.lane.filter(({ input }) => input === candidate.input)) {
    Object.assign(queued, { status: 'consumed', run: session.runs.length, reason: 'taken_by_suspension' });
  }
  session.lane = session.lane.filter(({ status }) => status === 'queued');
  begin(session, [candidate], { cursor: wait.cursor, resumedFrom: wait.run });
}

export function dequeue(session: RefSession): void {
  const byLog = [...session.lane].sort((a, b) => a.input - b.input);
  const byClass = [...byLog].sort((a, b) => a.rank - b.rank);
  const starves = byClass[0] !== byLog[0] && session.overtakes >= laneLimits.overtakes;
  const order = starves ? byLog : byClass;
  const [head] = order;
  session.state = 'idle';
  session.laneHeld = false;
  if (!head) return;
  const until = order.findIndex((each) => head.mergeKey === undefined || each.mergeKey !== head.mergeKey);
  const merged = order.slice(0, Math.min(until === -1 ? order.length : Math.max(until, 1), laneLimits.merged));
  if (head.held && merged.length < laneLimits.merged) {
    session.laneHeld = true;
    return;
  }
  session.lane = session.lane.filter((candidate) => !merged.includes(candidate));
  session.overtakes = head === byLog[0] ? 0 : session.overtakes + 1;
  for (const candidate of merged.slice(1)) candidate.reason = 'merged';
  begin(session, merged, { cursor: head.input });
}

export function endRun(session: RefSession, status: string): void {
  const run = lastRun(session);
  run.status = status;
  for (const candidate of run.candidates) candidate.status = status === 'failed' ? 'failed' : 'consumed';
  enqueueUntold(session, run);
}

function enqueueUntold(session: RefSession, run: RefRun): void {
  for (const { candidate, taken } of run.told) {
    if (taken) continue;
    Object.assign(candidate, { status: 'queued', run: undefined, reason: 'run_ended_before_steer' });
    session.lane.push(candidate);
  }
}

export function requeue(session: RefSession, reason: 'lease_expired' | 'host_stopping'): void {
  const run = lastRun(session);
  run.status = 'failed';
  const attempt = reason === 'host_stopping' ? run.attempt : run.attempt + 1;
  if (attempt > runLimits.attempts) {
    for (const candidate of run.candidates) candidate.status = 'failed';
    enqueueUntold(session, run);
    dequeue(session);
    return;
  }
  const { candidates, cursor, resumedFrom } = run;
  const told = run.told.map(({ candidate }) => ({ candidate, taken: false }));
  begin(session, candidates, { cursor, resumedFrom, attempt, told, retryOf: session.runs.length - 1 });
}

export function lastRun(session: RefSession): RefRun {
  const run = session.runs.at(-1);
  if (!run) throw new Error('a session without a run');
  return run;
}
