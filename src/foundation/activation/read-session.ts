/** Reads of sessions, with what waits in the lane of one. */
import type { Sql } from '../../platform/index.js';
import { homeOf } from '../../protocol/index.js';
import { type ListedSession, type ListSessions, selectListedSession, selectSessions } from '../session/index.js';
import { selectOpenSuspension } from '../suspension/index.js';
import type { TimedRows } from '../timed-list/index.js';
import type { CandidateRecord } from './candidate-store.js';
import { selectLane } from './input-listing-store.js';
import { mayRead, type Reader } from './read-input.js';

export interface SessionView {
  session: ListedSession;
  /** What is queued, the next first; the head of a long one. */
  lane: CandidateRecord[];
  /** The wait that a suspended session is in. */
  suspension: { id: string; reason: string; runId: string } | undefined;
}

const shownLane = 200;

/** Undefined for what does not exist and for what the caller may not see alike. */
export async function readSession(
  sql: Sql,
  id: string,
  { caller }: { caller: Reader },
): Promise<SessionView | undefined> {
  const home = homeOf(id) ?? '';
  const session = await selectListedSession(sql, home, id);
  if (!session || !mayRead(caller, session)) return undefined;
  const [lane, suspension] = await Promise.all([
    selectLane(sql, { home, sessionId: id, limit: shownLane }),
    selectOpenSuspension(sql, home, id),
  ]);
  return { session, lane, suspension };
}

export type ListSessionsQuery = Omit<ListSessions, keyof Reader> & { caller: Reader };

export function listSessions(sql: Sql, { caller, ...query }: ListSessionsQuery): Promise<TimedRows<ListedSession>> {
  return selectSessions(sql, { ...query, ...caller });
}
