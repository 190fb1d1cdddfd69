/**
 * After a suspension has committed, the log is read again from its cursor: an input that came before the subscriptions
 * stood, decided on or not, is found here; one that is numbered later meets the subscriptions at the resolver. Whoever is
 * first consumes the wait under the session's lock (F14).
 */
import type { Tx } from '../../platform/index.js';
import { selectInput } from '../input/index.js';
import { mintFrom } from '../new-id.js';
import { type FoundationParts, foundationChannels, type StepOutcome } from '../parts.js';
import type { AgentDirectory } from '../ports.js';
import { missingRuntime } from '../runtime/index.js';
import { lockSession } from '../session/index.js';
import {
  markReplayed,
  type SuspensionRecord,
  selectFirstMatch,
  selectSuspension,
  selectUnreplayedSuspensions,
} from '../suspension/index.js';
import { decideActivation } from './decide-activation.js';
import { resumeSession } from './resume-session.js';

const batch = 50;

type Replayer = Pick<FoundationParts, 'db' | 'clock' | 'random' | 'wakeups'> & { directory: AgentDirectory };

/** For suspensions whose process died between the commit and the replay. */
export async function replaySuspensions(replayer: Replayer): Promise<StepOutcome> {
  const waiting = await selectUnreplayedSuspensions(replayer.db.sql, batch);
  for (const suspension of waiting) await replaySuspension(replayer, suspension);
  return waiting.length === batch ? 'more' : 'idle';
}

export async function replaySuspension(replayer: Replayer, { home, id }: { home: string; id: string }): Promise<void> {
  const resumed = await replayer.db.transact('replay-suspension', async (tx) => {
    const seen = await selectSuspension(tx, home, id);
    const session = seen && (await lockSession(tx, { home, id: seen.sessionId }));
    // Read again under the lock: a match or a cancel may have been faster.
    const suspension = await selectSuspension(tx, home, id);
    if (!session || suspension?.status !== 'open' || suspension.replayedAt !== null) return false;
    const matched = await resumeFromLog(replayer, tx, { suspension, session });
    if (!matched) await markReplayed(tx, suspension);
    return matched;
  });
  if (resumed) replayer.wakeups.wake(foundationChannels.runs);
}

interface Replaying {
  suspension: SuspensionRecord;
  session: NonNullable<Awaited<ReturnType<typeof lockSession>>>;
}

async function resumeFromLog(replayer: Replayer, tx: Tx, { suspension, session }: Replaying): Promise<boolean> {
  const match = await selectFirstMatch(tx, suspension);
  const input = match && (await selectInput(tx, match.home, match.inputId));
  if (!input || input.position === null) return false;
  const agent = await replayer.directory.byHome(tx, suspension.home);
  if (!agent) return false;
  const decided = decideActivation({
    kind: input.kind,
    route: 'suspension',
    sessionState: session.state,
    agentStatus: agent.status,
    runtime: missingRuntime(agent.runtime.id),
    whenActive: agent.attention.whenActive,
    suspensionMatches: true,
    wakes: true,
  });
  if (decided.decision !== 'RESUME') return false;
  return resumeSession(tx, {
    session,
    suspension,
    input: { ...input, position: input.position },
    route: `suspension:${suspension.id}`,
    decided,
    mint: mintFrom(replayer),
  });
}
