/**
 * After a suspension has committed, the log is read again from its cursor: an input that came before the subscriptions
 * stood, decided on or not, is found here; one that is numbered later meets the subscriptions at the resolver. Whoever is
 * first counts it, and consumes the wait, under the session's lock (F14). A long log is read in parts, each a commit that
 * says how far it came; a wait that cannot be replayed is tried later and later, and holds up no other.
 */
import { isConnectionLost, type Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import { awaitLog, type InputRecord, selectInput } from '../input/index.js';
import { mintFrom, newId } from '../new-id.js';
import { type FoundationParts, foundationChannels, type StepOutcome } from '../parts.js';
import type { AgentDefinition, AgentDirectory } from '../ports.js';
import { missingRuntime } from '../runtime/index.js';
import { lockSession, type SessionRecord } from '../session/index.js';
import {
  markReplayed,
  markReplayedTo,
  postponeSuspension,
  type SuspensionRecord,
  selectLogMatches,
  selectSuspension,
  selectUnreplayedSuspensions,
} from '../suspension/index.js';
import { insertCandidate } from './candidate-store.js';
import { type ActivationFacts, decideActivation } from './decide-activation.js';
import { decideWait } from './decide-wait.js';
import { noteEarlier } from './note-earlier.js';
import { resumeSession } from './resume-session.js';

const batch = 50;
/** Inputs of the log that are looked at in one commit. */
const partOfLog = 100;
const pauseMs = 1_000;
const longestPauseMs = 5 * 60_000;

export type Replayer = Pick<FoundationParts, 'db' | 'clock' | 'random' | 'wakeups' | 'log'> & {
  directory: AgentDirectory;
};

/** For suspensions whose process died between the commit and the replay. */
export async function replaySuspensions(replayer: Replayer): Promise<StepOutcome> {
  const waiting = await selectUnreplayedSuspensions(replayer.db.sql, batch);
  let more = waiting.length === batch;
  for (const suspension of waiting) {
    try {
      more = (await replaySuspension(replayer, suspension)) === 'more' || more;
    } catch (error) {
      if (isConnectionLost(error)) throw error;
      await postponeWait(replayer, suspension, error);
    }
  }
  return more ? 'more' : 'idle';
}

/** Twice as long each time. */
export async function postponeWait({ db, log }: Replayer, suspension: SuspensionRecord, error: unknown): Promise<void> {
  const { id, replayFaults } = suspension;
  const pause = Math.min(longestPauseMs, pauseMs * 2 ** Math.min(replayFaults, 16));
  log.error({ err: error, suspensionId: id, faults: replayFaults + 1, pauseMs: pause }, 'a wait is looked at later');
  await db.transact('postpone-wait', (tx) => postponeSuspension(tx, suspension, pause));
}

/** `more` when the log is longer than one commit reads. */
export async function replaySuspension(
  replayer: Replayer,
  { home, tenant, id }: { home: string; tenant: string; id: string },
): Promise<StepOutcome> {
  // Whoever decides on inputs now may not have seen the subscriptions: what it leaves in the log is read after it.
  await replayer.db.transact('await-log', (tx) => awaitLog(tx, tenant));
  const wake = new Set<string>();
  const outcome = await replayer.db.transact('replay-suspension', async (tx) => {
    const seen = await selectSuspension(tx, home, id);
    const session = seen && (await lockSession(tx, { home, id: seen.sessionId }));
    // Read again under the lock: a match, a cancel or another replay may have been faster.
    const suspension = await selectSuspension(tx, home, id);
    if (!session || suspension?.status !== 'open' || suspension.replayedAt !== null) return 'idle';
    const earlier = suspension.replayedTo === null ? await noteEarlier(replayer, tx, { suspension, wake }) : [];
    return readLog(replayer, tx, { suspension, session, wake, earlier });
  });
  for (const channel of wake) replayer.wakeups.wake(channel);
  return outcome;
}

export interface Replaying {
  suspension: SuspensionRecord;
  session: SessionRecord;
  wake: Set<string>;
  /** Absent: from where its replay has come to. */
  after?: number | undefined;
  /** Counted before the log is read. */
  earlier?: readonly (InputRecord & { position: number })[];
}

/** Counts what the log holds for an open wait, in its order, until it is satisfied. The caller has the session locked. */
export async function readLog(replayer: Replayer, tx: Tx, replaying: Replaying): Promise<StepOutcome> {
  const { suspension } = replaying;
  const agent = await replayer.directory.byHome(tx, suspension.home);
  if (agent) {
    const after = replaying.after ?? suspension.replayedTo ?? suspension.inputLogCursor;
    const matches = await selectLogMatches(tx, suspension, { after, limit: partOfLog });
    const counting = { ...replaying, agent, mint: mintFrom(replayer) };
    for (const input of replaying.earlier ?? []) {
      if (await countLogged(tx, counting, input)) return 'idle';
    }
    for (const { home, inputId } of matches) {
      const input = await selectInput(tx, home, inputId);
      if (!input || input.position === null) continue;
      if (await countLogged(tx, counting, { ...input, position: input.position })) return 'idle';
    }
    const last = matches.at(-1);
    if (matches.length === partOfLog && last) {
      await markReplayedTo(tx, suspension, last.position);
      return 'more';
    }
  }
  await markReplayed(tx, suspension);
  return 'idle';
}

type Counting = Replaying & { agent: AgentDefinition; mint: Mint };

/** True when the wait is over. */
async function countLogged(
  tx: Tx,
  { suspension: asRead, session, agent, mint, wake }: Counting,
  input: InputRecord & { position: number },
): Promise<boolean> {
  const suspension = await selectSuspension(tx, asRead.home, asRead.id);
  if (suspension?.status !== 'open') return true;
  const facts: ActivationFacts = {
    kind: input.kind,
    route: 'suspension',
    sessionState: session.state,
    agentStatus: agent.status,
    runtime: missingRuntime(agent.runtime.id),
    whenActive: agent.attention.whenActive,
    suspensionMatches: true,
    wakes: true,
  };
  const decided = await decideWait(tx, { facts, suspension, input, decided: decideActivation(facts) });
  const route = `suspension:${suspension.id}`;
  if (decided.decision === 'RESUME') {
    wake.add(foundationChannels.runs);
    return resumeSession(tx, { session, suspension, input, route, decided, mint });
  }
  // It is not projected: the environment may know newer things by now.
  if (decided.decision === 'PROJECT') {
    const { home } = suspension;
    const id = newId('cand', home, mint);
    await insertCandidate(tx, { home, id, input, route, sessionId: session.id, decided, status: 'settled' });
  }
  return false;
}
