/**
 * Runs that end while others are being settled share the next commit. Only what goes through plainly is done here: the run
 * is ours, it leaves no state, nobody steered it in vain, and nothing waits behind it. Everything else is settled alone,
 * where each case has its place; so is all of a commit that failed. Whether a commit went through is not known when its
 * connection is lost: then everybody is told so, and looks before trying again.
 */
import { gather, isConnectionLost, type Tx } from '../../platform/index.js';
import { type Fact, noteFacts, runFact } from '../fact/index.js';
import { mintFrom } from '../new-id.js';
import { type FoundationParts, foundationChannels } from '../parts.js';
import { type ClaimedRun, endRuns, selectMissedRuns } from '../run/index.js';
import { holdRunningRuns, insertEventsOfRuns, runChannel } from '../run-event/index.js';
import type { RunEnding } from '../runtime/index.js';
import { lockSessions, restSessions } from '../session/index.js';
import { endCandidates, selectBusyLanes } from './candidate-store.js';
import { endEventOf, type RunEnd } from './end-run.js';
import { endOf, type Settled, type Settler as SettlesOne, settleRun } from './settle-run.js';

type Settler = SettlesOne & Pick<FoundationParts, 'log'>;

export type Settles = (run: ClaimedRun, ending: RunEnding) => Promise<Settled>;

interface Ended {
  run: ClaimedRun;
  ending: RunEnding;
}

interface Plain extends Ended {
  /** The run's event cursor. */
  after: number;
}

const atOnce = 32;

export function shareSettles(settler: Settler): Settles {
  const join = gather({ atOnce, work: (ended: readonly Ended[]) => settleOrNone(settler, ended) });
  return async (run, ending) => {
    const plain = isPlain(ending) && (await join({ run, ending }));
    return plain ? { settled: true } : settleRun(settler, run, ending);
  };
}

function isPlain(ending: RunEnding): boolean {
  return ending.type !== 'run.suspended' && !(ending.type === 'run.completed' && ending.runtimeState !== undefined);
}

async function settleOrNone(settler: Settler, ended: readonly Ended[]): Promise<boolean[]> {
  const { settled, noted } = await settler.db
    .transact('settle-runs', (tx) => settleTogether(settler, tx, ended))
    .catch((error: unknown) => {
      if (isConnectionLost(error)) throw error;
      settler.log.warn({ err: error, runs: ended.length }, 'runs that ended together are settled one by one');
      return none;
    });
  for (const runId of settled) settler.wakeups.wake(runChannel(runId));
  if (settled.size > 0) settler.wakeups.wake(foundationChannels.runs);
  if (noted) settler.wakeups.wake(foundationChannels.inputs);
  return ended.map(({ run }) => settled.has(run.id));
}

interface SettledRuns {
  settled: ReadonlySet<string>;
  /** Somebody is told of it, by an input. */
  noted: boolean;
}

const none: SettledRuns = { settled: new Set(), noted: false };

async function settleTogether(settler: Settler, tx: Tx, ended: readonly Ended[]): Promise<SettledRuns> {
  const plain = await holdPlain(settler, tx, ended);
  if (plain.length === 0) return none;
  const ends = plain.map(({ run, ending }) => ({ run, end: endOf(ending) }));
  await Promise.all([
    insertEventsOfRuns(
      tx,
      plain.map(({ run: { home, id }, ending, after }) => ({
        home,
        runId: id,
        after,
        events: [endEventOf(endOf(ending))],
      })),
    ),
    endRuns(
      tx,
      ends.map(({ run: { home, id }, end }) => ({ home, id, ...end })),
    ),
    endCandidates(
      tx,
      ends.map(({ run: { home, activationCandidateId: id }, end }) => ({
        home,
        id,
        status: end.status === 'failed' ? 'failed' : 'consumed',
      })),
    ),
    restSessions(
      tx,
      plain.map(({ run: { home, sessionId: id } }) => ({ home, id })),
    ),
  ]);
  return { settled: new Set(plain.map(({ run }) => run.id)), noted: await noteEnds(settler, tx, ends) };
}

/** What is told goes by tenant and type, with one look where nobody cares. */
async function noteEnds(settler: Settler, tx: Tx, ends: readonly { run: ClaimedRun; end: RunEnd }[]): Promise<boolean> {
  const groups = new Map<string, Fact[]>();
  for (const { run, end } of ends) {
    const fact = { ...runFact(run, end.status, end.reason), ids: mintFrom(settler) };
    const group = `${fact.tenant} ${fact.type}`;
    groups.set(group, [...(groups.get(group) ?? []), fact]);
  }
  let noted = false;
  for (const facts of groups.values()) noted = (await noteFacts(tx, facts)) || noted;
  return noted;
}

/** Locks what is to change, in the order placement, session, run, and leaves out what is not so simple. */
async function holdPlain({ placements }: Settler, tx: Tx, ended: readonly Ended[]): Promise<Plain[]> {
  const fences = new Map(ended.map(({ run }) => [run.home, run.fence]));
  const held = new Set((await placements.holdAll(tx, [...fences.values()])).map(({ home }) => home));
  const mine = ended.filter(({ run }) => held.has(run.home));
  if (mine.length === 0) return [];
  const runs = mine.map(({ run: { home, id, fence } }) => ({ home, id, fence }));
  const named = mine.map(({ run: { home, sessionId: id } }) => ({ home, id }));
  const [sessions, running, missed, busy] = await Promise.all([
    lockSessions(tx, named),
    holdRunningRuns(tx, runs),
    selectMissedRuns(tx, runs),
    selectBusyLanes(tx, named),
  ]);
  return mine.flatMap(({ run, ending }) => {
    const session = sessions.find(({ id }) => id === run.sessionId);
    const after = running.get(run.id);
    const plainly = session?.activeRunId === run.id && !missed.has(run.id) && !busy.has(run.sessionId);
    return after !== undefined && plainly ? [{ run, ending, after }] : [];
  });
}
