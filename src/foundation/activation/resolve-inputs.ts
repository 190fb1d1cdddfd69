/**
 * Journey 2, first half: each numbered input meets its candidates, each candidate its decision. One stream per tenant, in
 * log order; a batch is one commit with the position it reaches, so a crash anywhere repeats it whole. Lock order: log
 * head, session, run.
 */
import {
  type Database,
  isConnectionLost,
  isRetryableConflict,
  type Log,
  type Tx,
  type Wakeups,
} from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import { attendTo, type WeighedAttention } from '../attention/index.js';
import {
  advanceResolvedPosition,
  type InputRecord,
  inputLimits,
  lockResolvedPosition,
  selectLoggedInputs,
  unresolvedTenants,
} from '../input/index.js';
import { mintFrom, newId } from '../new-id.js';
import type { FoundationParts, StepOutcome } from '../parts.js';
import type { AgentDirectory } from '../ports.js';
import { missingRuntime, type RuntimeRegistry } from '../runtime/index.js';
import { lockSession, lockSessionByKeys, type SessionRecord, sessionKeysOf } from '../session/index.js';
import type { SuspensionRecord } from '../suspension/index.js';
import { applyDecision, openSuspensionOf } from './apply-decision.js';
import { hasReachedSession, insertCandidate, selectCandidatesOf } from './candidate-store.js';
import { type ActivationDecision, type ActivationFacts, decideActivation, joinsLane } from './decide-activation.js';
import { decideWait } from './decide-wait.js';
import { keepFanOut, selectFanOut } from './fan-out-store.js';
import { type CandidateSeed, type FanOutPlace, type FindCandidates, findCandidates } from './find-candidates.js';
import { isLaneFull } from './lane.js';

type LoggedInput = InputRecord & { position: number };

export type Resolver = Pick<FoundationParts, 'clock' | 'random'> & {
  db: Database;
  wakeups: Wakeups;
  log: Log;
  directory: AgentDirectory;
  runtimes: RuntimeRegistry;
  /** How many candidates one commit, and one input, may have. */
  fanOut?: Pick<FindCandidates, 'limits'>;
};

// Inputs that concern many agents take long; what is decided by then is committed, well within a transaction's deadline.
const batchMs = 2_000;

export async function resolveInputs(resolver: Resolver): Promise<StepOutcome> {
  let more = false;
  for (const tenant of await unresolvedTenants(resolver.db.sql)) {
    const wake = new Set<string>();
    const resolved = await resolver.db.transact('resolve-inputs', (tx) => resolveBatch(resolver, tx, { tenant, wake }));
    for (const channel of wake) resolver.wakeups.wake(channel);
    more ||= resolved.left > 0 || resolved.reached === inputLimits.resolveBatch;
  }
  return more ? 'more' : 'idle';
}

async function resolveBatch(
  resolver: Resolver,
  tx: Tx,
  { tenant, wake }: { tenant: string; wake: Set<string> },
): Promise<{ reached: number; left: number }> {
  const position = await lockResolvedPosition(tx, tenant);
  if (position === undefined) return { reached: 0, left: 0 };
  const inputs = await selectLoggedInputs(tx, { tenant, after: position, limit: inputLimits.resolveBatch });
  const mint = mintFrom(resolver);
  const until = resolver.clock.monotonicMs() + batchMs;
  // The first of them may be one that a commit before has left half-way.
  let after = inputs.length === 0 ? undefined : await selectFanOut(tx, tenant);
  let reached = 0;
  for (const input of inputs) {
    const { channels, more } = await resolveAlone(resolver, tx, { input, mint, after });
    for (const channel of channels) wake.add(channel);
    after = undefined;
    if (more) {
      await keepFanOut(tx, tenant, more);
      break;
    }
    await advanceResolvedPosition(tx, tenant, input.position);
    reached += 1;
    if (resolver.clock.monotonicMs() > until) break;
  }
  return { reached, left: inputs.length - reached };
}

/** One input that cannot be decided on never holds up the ones behind it, nor one of its candidates the others. */
async function resolveAlone(resolver: Resolver, tx: Tx, page: ResolvingPage): Promise<ResolvedPage> {
  try {
    return await tx.savepoint((inner) => resolveInput(resolver, inner, { ...page, resolve: resolveSeed }));
  } catch (error) {
    throwPassing(error);
    resolver.log.warn({ err: error, inputId: page.input.id }, 'an input is decided on for each candidate by itself');
  }
  try {
    return await tx.savepoint((inner) => resolveInput(resolver, inner, { ...page, resolve: resolveApart }));
  } catch (error) {
    throwPassing(error);
    resolver.log.error({ err: error, inputId: page.input.id }, 'an input could not be resolved and is set aside');
    await setAside(tx, { ...page, reason: 'resolver_fault' });
    return { channels: [] };
  }
}

function throwPassing(error: unknown): void {
  if (isConnectionLost(error) || isRetryableConflict(error)) throw error;
}

async function resolveApart(resolver: Resolver, tx: Tx, resolving: ResolvingSeed): Promise<string[]> {
  const { seed, input, mint } = resolving;
  try {
    return await tx.savepoint((inner) => resolveSeed(resolver, inner, resolving));
  } catch (error) {
    throwPassing(error);
    const { home } = seed.agent;
    resolver.log.error({ err: error, inputId: input.id, home }, 'a candidate could not be decided on and is set aside');
    await insertCandidate(tx, {
      home,
      id: newId('cand', home, mint),
      input,
      route: seed.route,
      status: 'settled',
      decided: { decision: 'IGNORE', policyId: 'activation.unrouted', reason: 'resolver_fault' },
    });
    return [];
  }
}

interface Resolving {
  input: LoggedInput;
  mint: Mint;
}

type ResolvingPage = Resolving & { after: FanOutPlace | undefined };
type ResolvingSeed = Resolving & { seed: CandidateSeed };

interface ResolvedPage {
  channels: string[];
  /** The input concerns more, from here on. */
  more?: FanOutPlace | undefined;
}

async function resolveInput(
  resolver: Resolver,
  tx: Tx,
  { input, mint, after, resolve }: ResolvingPage & { resolve: typeof resolveSeed },
): Promise<ResolvedPage> {
  const { seeds, reason, more, cut } = await findCandidates(resolver, tx, { input, after, ...resolver.fanOut });
  const channels: string[] = [];
  for (const seed of seeds) channels.push(...(await resolve(resolver, tx, { seed, input, mint })));
  if (cut) await setAside(tx, { input, mint, reason: 'fan_out_limit' });
  else if (!more && (await selectCandidatesOf(tx, input.id)).length === 0) await setAside(tx, { input, mint, reason });
  return { channels, more };
}

async function resolveSeed(
  { runtimes, clock }: Resolver,
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

/** An event that an agent listens to is weighed before the state of its session decides. */
async function attentionOf(
  tx: Tx,
  { facts, seed, input, now }: { facts: ActivationFacts; seed: CandidateSeed; input: LoggedInput; now: Date },
): Promise<WeighedAttention | undefined> {
  const { subscription, agent } = seed;
  if (!subscription || facts.kind !== 'event' || !facts.wakes || facts.agentStatus === 'ended') return undefined;
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

/** What concerns nobody is kept with its reason, under the home it came through. */
async function setAside(tx: Tx, { input, mint, reason }: Resolving & { reason: string }): Promise<void> {
  await insertCandidate(tx, {
    home: input.home,
    id: newId('cand', input.home, mint),
    input,
    route: 'none',
    decided: { decision: 'IGNORE', policyId: 'activation.unrouted', reason },
    status: 'settled',
  });
}
