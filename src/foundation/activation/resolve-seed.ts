/** One candidate of an input: its session locked, its facts gathered, its decision made true. */
import type { Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import { attendTo, isWeighed, type WeighedAttention } from '../attention/index.js';
import type { InputRecord } from '../input/index.js';
import type { FoundationParts } from '../parts.js';
import { missingRuntime } from '../runtime/index.js';
import { lockSession, lockSessionByKeys, type SessionRecord, sessionKeysOf } from '../session/index.js';
import type { SuspensionRecord } from '../suspension/index.js';
import { applyDecision, openSuspensionOf } from './apply-decision.js';
import { hasReachedSession } from './candidate-store.js';
import { type ActivationDecision, type ActivationFacts, decideActivation, joinsLane } from './decide-activation.js';
import { decideWait } from './decide-wait.js';
import type { CandidateSeed } from './find-candidates.js';
import { isLaneFull } from './lane.js';

export type LoggedInput = InputRecord & { position: number };

export interface ResolvingSeed {
  input: LoggedInput;
  seed: CandidateSeed;
  mint: Mint;
}

/** Answers which channels to wake after the commit. */
export async function resolveSeed(
  { runtimes, clock }: Pick<FoundationParts, 'runtimes' | 'clock'>,
  tx: Tx,
  { seed, input, mint }: ResolvingSeed,
): Promise<string[]> {
  const { agent } = seed;
  const session = await lockSeedSession(tx, seed, input);
  // Replaying a suspension, or another way, may have brought the input here before: a session takes it once.
  if (session && (await hasReachedSession(tx, { home: agent.home, inputId: input.id, sessionId: session.id })))
    return [];
  const suspension = await openSuspensionOf(tx, session);
  const runtime = runtimes.open(agent.runtime)?.describe() ?? missingRuntime(agent.runtime.id);
  const facts: ActivationFacts = {
    kind: input.kind,
    route: seed.routeKind,
    sessionState: stateFor(seed, session, suspension),
    agentStatus: agent.status,
    runtime,
    whenActive: seed.whenActive,
    ...(input.control === null ? {} : { controlVerb: input.control.verb }),
    suspensionMatches: suspension !== undefined && suspension.id === seed.suspensionId,
    wakes: input.trustClass !== 'historical_evidence',
    laneHeld: session !== undefined && session.laneDueAt !== null,
  };
  const attention = await attentionOf(tx, { facts, seed, input, now: clock.now() });
  if (attention) facts.attention = attention;
  const decided = await decideWithinLane(tx, session, facts);
  return applyDecision(tx, {
    mint,
    input,
    seed,
    session,
    suspension,
    runtime,
    attention,
    decided: suspension ? await decideWait(tx, { facts, suspension, input, decided }) : decided,
  });
}

/** What may wake an agent unasked is weighed before the state of its session decides; what it waits for is not. */
async function attentionOf(
  tx: Tx,
  { facts, seed, input, now }: { facts: ActivationFacts; seed: CandidateSeed; input: LoggedInput; now: Date },
): Promise<WeighedAttention | undefined> {
  const { subscription, agent } = seed;
  if (facts.route === 'suspension' || !facts.wakes || facts.agentStatus === 'ended') return undefined;
  if (!isWeighed(input, subscription !== undefined)) return undefined;
  return attendTo(tx, { agent, input, subscription, activeRun: facts.sessionState === 'active', now });
}

/** The lane is counted only for what would join it. */
async function decideWithinLane(
  tx: Tx,
  session: SessionRecord | undefined,
  facts: ActivationFacts,
): Promise<ActivationDecision> {
  const decided = decideActivation(facts);
  if (!session || !joinsLane(decided.decision)) return decided;
  return (await isLaneFull(tx, session)) ? decideActivation({ ...facts, laneFull: true }) : decided;
}

function lockSeedSession(tx: Tx, seed: CandidateSeed, input: InputRecord): Promise<SessionRecord | undefined> {
  const { home } = seed.agent;
  if (seed.sessionId !== undefined) return lockSession(tx, { home, id: seed.sessionId });
  return lockSessionByKeys(tx, home, sessionKeysOf(input));
}

/** A control that names a run concerns that run: to one that is over, its session is idle whatever runs there now. */
function stateFor(
  { runId }: CandidateSeed,
  session: SessionRecord | undefined,
  suspension: SuspensionRecord | undefined,
): ActivationFacts['sessionState'] {
  if (!session) return 'none';
  if (runId === undefined || runId === session.activeRunId || runId === suspension?.runId) return session.state;
  return 'idle';
}
