/** TargetResolver: which agents and sessions an input may concern. Reads only, so resolving changes nothing (F4). */
import type { Sql } from '../../platform/index.js';
import { homeOf } from '../../protocol/index.js';
import { foundationSource, type InputRecord } from '../input/index.js';
import type { AgentDefinition, AgentDirectory, WhenActive } from '../ports.js';
import { selectRun } from '../run/index.js';
import { selectSession } from '../session/index.js';
import {
  listeningSubscriptions,
  type MatchedBy,
  type SubscriptionRecord,
  selectSuspension,
  waitingSubscriptions,
} from '../suspension/index.js';
import type { ActivationFacts } from './decide-activation.js';

export const fanOutLimits = {
  /** Subscriptions read, and candidates decided on, in one commit. */
  page: 200,
  /** Candidates of one input by their subscriptions; what is beyond is told by a disposition. */
  most: 100_000,
} as const;

/** How far the candidates of an input have been decided on. */
export type FanOutPlace = {
  owner: 'suspension' | 'agent';
  home: string;
  id: string;
  count: number;
};

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
  /** By which an agent listens. */
  subscription?: SubscriptionRecord;
}

export interface FoundCandidates {
  seeds: CandidateSeed[];
  /** Why there is none. */
  reason: 'no_candidate' | 'unknown_target' | 'no_target';
  /** Where to go on once these are decided; absent when they are the last. */
  more?: FanOutPlace;
  /** It concerns more than an input may. */
  cut?: boolean;
}

export interface FindCandidates {
  input: InputRecord;
  /** Where an earlier page has ended. */
  after?: FanOutPlace | undefined;
  limits?: { page: number; most: number };
}

const beginning: FanOutPlace = { owner: 'suspension', home: '', id: '', count: 0 };

/** One page: first those who wait, then those who listen, at last the target. */
export async function findCandidates(
  { directory }: { directory: AgentDirectory },
  sql: Sql,
  { input, after = beginning, limits = fanOutLimits }: FindCandidates,
): Promise<FoundCandidates> {
  const reason = hasTarget(input) ? 'unknown_target' : input.kind === 'event' ? 'no_candidate' : 'no_target';
  if (input.kind === 'control') {
    const target = await findTarget(directory, sql, input);
    return { seeds: target?.sessionId === undefined ? [] : [target], reason };
  }
  const expired = after === beginning ? await findExpired(directory, sql, input) : [];
  // A wait that has expired is all that its session is to be told.
  const page = { directory, sql, input, after, limits };
  const [target, waiting] = await Promise.all([
    isExpiry(input) ? undefined : findTarget(directory, sql, input),
    findWaiting(page),
  ]);
  const seeds = [...expired, ...waiting.seeds];
  if (waiting.more) return { seeds, reason, more: waiting.more };
  const listening = waiting.cut ? waiting : await findListening({ ...page, count: waiting.count }, target?.agent.home);
  if (listening !== waiting) seeds.push(...listening.seeds);
  if (listening.more) return { seeds, reason, more: listening.more };
  if (target) seeds.push(await asListener(page, target));
  return { seeds, reason, ...(listening.cut ? { cut: true } : {}) };
}

interface Page {
  directory: AgentDirectory;
  sql: Sql;
  input: InputRecord;
  after: FanOutPlace;
  limits: { page: number; most: number };
}

interface FoundPage {
  seeds: CandidateSeed[];
  /** With those of the pages before. */
  count: number;
  more?: FanOutPlace;
  cut?: boolean;
}

/** Context wakes nobody, so nobody's wait is about it. */
async function findWaiting({ directory, sql, input, after, limits }: Page): Promise<FoundPage> {
  const { count } = after;
  if (after.owner !== 'suspension' || input.kind === 'context') return { seeds: [], count };
  const limit = Math.min(limits.page, limits.most - count);
  const found = await waitingSubscriptions(sql, matchedBy(input), { after, limit: limit + 1 });
  const matches = found.slice(0, limit);
  const seeds = await seedsOf(directory, sql, { input, matches });
  const { home = '', suspensionId } = matches.at(-1) ?? {};
  const place = { owner: 'suspension', home, id: suspensionId ?? '', count: count + limit } as const;
  return { seeds, ...restOf(place, { left: found.length > limit, count: count + matches.length, most: limits.most }) };
}

/** A command goes where it is sent; a standing subscription is about what happens. */
async function findListening(
  { directory, sql, input, after, limits, count }: Page & { count: number },
  target: string | undefined,
): Promise<FoundPage> {
  if (input.kind === 'command') return { seeds: [], count };
  const from = after.owner === 'agent' ? after : beginning;
  const limit = Math.min(limits.page, limits.most - count);
  const found = await listeningSubscriptions(sql, matchedBy(input), { after: from, limit: limit + 1 });
  const matches = found.slice(0, limit);
  const seeds = await seedsOf(directory, sql, { input, matches: matches.filter(({ home }) => home !== target) });
  const place = { owner: 'agent', home: matches.at(-1)?.home ?? '', id: '', count: count + limit } as const;
  return { seeds, ...restOf(place, { left: found.length > limit, count: count + matches.length, most: limits.most }) };
}

function restOf(
  place: FanOutPlace,
  { left, count, most }: { left: boolean; count: number; most: number },
): Pick<FoundPage, 'count' | 'more' | 'cut'> {
  if (!left) return { count };
  return place.count >= most ? { count, cut: true } : { count, more: place };
}

/** Who is addressed and listens too is one candidate, by way of the subscription. */
async function asListener({ directory, sql, input }: Page, target: CandidateSeed): Promise<CandidateSeed> {
  if (input.kind === 'command') return target;
  const page = { after: { home: '', id: '' }, limit: 1, only: target.agent.home };
  const matches = await listeningSubscriptions(sql, matchedBy(input), page);
  const [listens] = await seedsOf(directory, sql, { input, matches });
  if (!listens) return target;
  return target.sessionId === undefined ? listens : { ...listens, sessionId: target.sessionId };
}

function matchedBy({ tenant, type, subject, receivedAt }: InputRecord): MatchedBy {
  return { tenant, type, subject: subject?.resource, receivedAt };
}

function isExpiry({ type, source }: InputRecord): boolean {
  return source === foundationSource && type === 'suspension.expired';
}

/** The wait that an input `suspension.expired` ends: its subject names it. */
async function findExpired(directory: AgentDirectory, sql: Sql, input: InputRecord): Promise<CandidateSeed[]> {
  if (!isExpiry(input)) return [];
  const id = input.subject?.resource?.replace(/^suspension:/, '') ?? '';
  const suspension = await selectSuspension(sql, homeOf(id) ?? '', id);
  const agent = suspension && (await agentIn(directory, sql, { home: suspension.home, tenant: input.tenant }));
  if (!suspension || !agent) return [];
  const { sessionId } = suspension;
  const whenActive = agent.attention.whenActive;
  return [{ route: `suspension:${id}`, routeKind: 'suspension', agent, whenActive, sessionId, suspensionId: id }];
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

/** One seed per suspension, and one per listening agent, however many of its subscriptions match. */
async function seedsOf(
  directory: AgentDirectory,
  sql: Sql,
  { input, matches }: { input: InputRecord; matches: readonly SubscriptionRecord[] },
): Promise<CandidateSeed[]> {
  const seeds = new Map<string, CandidateSeed>();
  for (const match of matches) {
    const key = match.suspensionId ?? match.home;
    if (seeds.has(key)) continue;
    const agent = await agentIn(directory, sql, { home: match.home, tenant: input.tenant });
    if (agent) seeds.set(key, seedOf(match, agent));
  }
  return [...seeds.values()];
}

function seedOf(match: SubscriptionRecord, agent: AgentDefinition): CandidateSeed {
  const whenActive = match.whenActive ?? agent.attention.whenActive;
  if (match.suspensionId === null || match.sessionId === null) {
    return { route: `subscription:${match.id}`, routeKind: 'subscription', agent, whenActive, subscription: match };
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
