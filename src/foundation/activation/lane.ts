/**
 * A session's lane: what is queued runs one after the other, one live run at a time (F6). Its order is that of the log, or
 * by class and then of the log; who is the oldest is passed by `overtakes` others at most. Neighbours that merge become one
 * run, in the commit that begins it. A head that is held leaves the session idle until it is due: then `openLanes` begins.
 */
import type { Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import type { InputRecord } from '../input/index.js';
import { newId } from '../new-id.js';
import type { AttentionSettings } from '../ports.js';
import { insertRuns } from '../run/index.js';
import { enterState, type SessionRecord } from '../session/index.js';
import { beginCandidate, type LanePlace } from './candidate-store.js';
import { type LaneEntry, laneRoom, selectLane, takeAlong } from './lane-store.js';

export const laneLimits = {
  /** Candidates that wait in one session. */
  queued: 1_000,
  /** Runs that may begin before the oldest of the lane does. */
  overtakes: 16,
  /** Inputs of one run. */
  merged: 32,
  mergeWindowMs: 10 * 60_000,
} as const;

export interface BeginRun {
  session: Pick<SessionRecord, 'home' | 'id' | 'tenant' | 'runtimeId' | 'runtimeVersion'>;
  runId: string;
  candidateId: string;
  /** From where the log answers the waits of this run. */
  position: number;
  resumedFromRunId?: string;
  /** The dead run that this one replaces, and which attempt it is. */
  retryOf?: { runId: string; attempt: number };
  laneOvertakes?: number;
}

/** A queued run that makes its session active. The caller has the session locked. */
export async function beginRun(tx: Tx, begin: BeginRun): Promise<void> {
  const { session, runId, candidateId, position, resumedFromRunId, retryOf, laneOvertakes } = begin;
  const run = insertRuns(tx, [
    {
      home: session.home,
      id: runId,
      tenant: session.tenant,
      sessionId: session.id,
      candidateId,
      runtimeId: session.runtimeId,
      runtimeVersion: session.runtimeVersion,
      inputLogCursor: position,
      resumedFromRunId: resumedFromRunId ?? null,
      ...(retryOf === undefined ? {} : { retryOfRunId: retryOf.runId, attempt: retryOf.attempt }),
    },
  ]);
  const active = enterState(tx, {
    home: session.home,
    id: session.id,
    state: 'active',
    activeRunId: runId,
    ...(laneOvertakes === undefined ? {} : { laneOvertakes }),
  });
  await Promise.all([run, active]);
}

/** Starts the next of the lane, or lets the session be idle. Answers the new run. */
export async function dequeueNext(tx: Tx, session: SessionRecord, mint: Mint): Promise<string | undefined> {
  const { home, id: sessionId } = session;
  const [head, ...behind] = await nextOf(tx, session);
  if (!head) {
    await enterState(tx, { home, id: sessionId, state: 'idle' });
    return undefined;
  }
  const merged = mergedWith(head, behind);
  // Where no more can be merged there is nothing to wait for.
  if (!head.due && head.notBefore !== null && merged.length + 1 < laneLimits.merged) {
    await enterState(tx, { home, id: sessionId, state: 'idle', laneDueAt: head.notBefore });
    return undefined;
  }
  const runId = newId('run', home, mint);
  await beginCandidate(tx, { home, id: head.id, runId, attempt: 1 });
  if (merged.length > 0) await takeAlong(tx, { home, seedId: head.id, ids: merged.map(({ id }) => id), runId });
  const laneOvertakes = head.overtakes ? session.laneOvertakes + 1 : 0;
  await beginRun(tx, { session, runId, candidateId: head.id, position: head.position, laneOvertakes });
  return runId;
}

async function nextOf(tx: Tx, { home, id: sessionId, laneOvertakes }: SessionRecord): Promise<LaneEntry[]> {
  const lane = { home, sessionId, heldMs: laneLimits.mergeWindowMs, limit: laneLimits.merged };
  const byClass = await selectLane(tx, { ...lane, oldestFirst: false });
  const starves = byClass[0]?.overtakes === true && laneOvertakes >= laneLimits.overtakes;
  return starves ? selectLane(tx, { ...lane, oldestFirst: true }) : byClass;
}

/** Only neighbours, so that merging changes the order of nothing. */
function mergedWith({ mergeKey }: LaneEntry, behind: readonly LaneEntry[]): LaneEntry[] {
  if (mergeKey === null) return [];
  const other = behind.findIndex((entry) => entry.mergeKey !== mergeKey);
  return other === -1 ? [...behind] : behind.slice(0, other);
}

export async function isLaneFull(tx: Tx, session: SessionRecord): Promise<boolean> {
  return (await laneRoom(tx, session, laneLimits.queued)) <= 0;
}

const ingressRanks = { urgent: 0, normal: 1, bulk: 2 } as const;
const kindRanks = { control: 0, command: 1, event: 2, context: 2 } as const;

/** Where an input stands among what is queued, by the agent's attention and what ingress says: never by its data (F1). */
export function lanePlaceOf(
  { laneOrder = 'arrival', mergeWindowMs = 0 }: AttentionSettings,
  { kind, type, subject, priority }: Pick<InputRecord, 'kind' | 'type' | 'subject' | 'priority'>,
): LanePlace {
  const rank = laneOrder === 'arrival' ? 0 : ingressRanks[priority] * 3 + kindRanks[kind];
  if (kind !== 'event' || mergeWindowMs === 0) return { rank };
  const windowMs = Math.min(mergeWindowMs, laneLimits.mergeWindowMs);
  return { rank, merge: { key: `${type} ${subject?.resource ?? ''}`, windowMs } };
}
