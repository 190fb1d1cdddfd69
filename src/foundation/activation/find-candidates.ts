/** TargetResolver: which agents and sessions an input may concern. Reads only, so resolving changes nothing (F4). */
import type { Sql } from '../../platform/index.js';
import { homeOf } from '../../protocol/index.js';
import type { InputRecord } from '../input/index.js';
import type { AgentDefinition, AgentDirectory, WhenActive } from '../ports.js';
import { selectRun } from '../run/index.js';
import { selectSession } from '../session/index.js';
import { matchSubscriptions, type SubscriptionRecord, suspensionLimits } from '../suspension/index.js';
import type { ActivationFacts } from './decide-activation.js';

export interface CandidateSeed {
  /** Stored with the candidate: `target`, `control`, `subscription:{id}` or `suspension:{id}`. */
  route: string;
  routeKind: ActivationFacts['route'];
  agent: AgentDefinition;
  whenActive: WhenActive;
  /** Given when the way leads to one session; else the session keys of the input decide. */
  sessionId?: string;
  suspensionId?: string;
  /** The run that a control names. */
  runId?: string;
}

export interface FoundCandidates {
  seeds: CandidateSeed[];
  /** Why there is none. */
  reason: 'no_candidate' | 'unknown_target' | 'no_target';
}

export async function findCandidates(
  { directory }: { directory: AgentDirectory },
  sql: Sql,
  input: InputRecord,
): Promise<FoundCandidates> {
  const target = await findTarget(directory, sql, input);
  const reason = hasTarget(input) ? 'unknown_target' : input.kind === 'event' ? 'no_candidate' : 'no_target';
  if (input.kind === 'control') return { seeds: target?.sessionId === undefined ? [] : [target], reason };

  const matches = await matchSubscriptions(sql, {
    tenant: input.tenant,
    type: input.type,
    subject: input.subject?.resource,
    limit: suspensionLimits.matches,
  });
  const waiting =
    input.kind === 'context' ? [] : await seedsOf(directory, sql, { input, matches, owner: 'suspension' });
  // A command goes where it is sent; a standing subscription is about what happens.
  const listening = input.kind === 'command' ? [] : await seedsOf(directory, sql, { input, matches, owner: 'agent' });
  const listens = target && listening.find(({ agent }) => agent.home === target.agent.home);
  if (listens && target?.sessionId !== undefined) listens.sessionId = target.sessionId;
  return { seeds: [...waiting, ...listening, ...(target && !listens ? [target] : [])], reason };
}

function hasTarget({ target }: InputRecord): boolean {
  return target?.agent !== undefined || target?.session !== undefined || target?.run !== undefined;
}

async function findTarget(directory: AgentDirectory, sql: Sql, input: InputRecord): Promise<CandidateSeed | undefined> {
  const routeKind = input.kind === 'control' ? 'control' : 'target';
  const session = await findTargetSession(sql, input);
  if (session) {
    const agent = await agentIn(directory, sql, { home: session.home, tenant: input.tenant });
    if (!agent || session.tenant !== input.tenant) return undefined;
    const { sessionId, runId } = session;
    const seed: CandidateSeed = {
      route: routeKind,
      routeKind,
      agent,
      whenActive: agent.attention.whenActive,
      sessionId,
    };
    // A control concerns the run itself; anything else sent to a run is for its session.
    return runId === undefined || input.kind !== 'control' ? seed : { ...seed, runId };
  }
  if (input.target?.session !== undefined || input.target?.run !== undefined) return undefined;
  if (input.target?.agent === undefined) return undefined;
  const agent = await directory.byAgent(sql, input.tenant, input.target.agent);
  return agent && { route: routeKind, routeKind, agent, whenActive: agent.attention.whenActive };
}

async function findTargetSession(sql: Sql, { target }: InputRecord) {
  if (target?.run !== undefined) {
    const run = await selectRun(sql, homeOf(target.run) ?? '', target.run);
    return run && { home: run.home, tenant: run.tenant, sessionId: run.sessionId, runId: run.id };
  }
  if (target?.session === undefined) return undefined;
  const session = await selectSession(sql, homeOf(target.session) ?? '', target.session);
  return session && { home: session.home, tenant: session.tenant, sessionId: session.id, runId: undefined };
}

interface SeedsOf {
  input: InputRecord;
  matches: readonly SubscriptionRecord[];
  owner: 'agent' | 'suspension';
}

/** One seed per suspension, and one per listening agent, however many of its subscriptions match. */
async function seedsOf(
  directory: AgentDirectory,
  sql: Sql,
  { input, matches, owner }: SeedsOf,
): Promise<CandidateSeed[]> {
  const seeds = new Map<string, CandidateSeed>();
  for (const match of matches) {
    const key = match.suspensionId ?? match.home;
    if (match.owner !== owner || seeds.has(key)) continue;
    const agent = await agentIn(directory, sql, { home: match.home, tenant: input.tenant });
    if (agent) seeds.set(key, seedOf(match, agent));
  }
  return [...seeds.values()];
}

function seedOf(match: SubscriptionRecord, agent: AgentDefinition): CandidateSeed {
  const whenActive = match.whenActive ?? agent.attention.whenActive;
  if (match.suspensionId === null || match.sessionId === null) {
    return { route: `subscription:${match.id}`, routeKind: 'subscription', agent, whenActive };
  }
  return {
    route: `suspension:${match.suspensionId}`,
    routeKind: 'suspension',
    agent,
    whenActive,
    sessionId: match.sessionId,
    suspensionId: match.suspensionId,
  };
}

async function agentIn(directory: AgentDirectory, sql: Sql, { home, tenant }: { home: string; tenant: string }) {
  const agent = await directory.byHome(sql, home);
  return agent?.tenant === tenant ? agent : undefined;
}
