/**
 * Journey 2, first half: inputs get their places in the log, each meets its candidates, each candidate its decision. One
 * stream per tenant, in log order; a batch is one commit with the position it reaches, so a crash anywhere repeats it
 * whole. A suspension that commits meanwhile reads the log again once this is over (F14). Lock order: log, session, run.
 */
import {
  type Database,
  isConnectionLost,
  isRetryableConflict,
  type Log,
  type Tx,
  type Wakeups,
} from '../../platform/index.js';
import {
  advanceResolvedPosition,
  inputLimits,
  lockLog,
  numberInputs,
  openLog,
  selectUnresolvedInputs,
  waitingTenants,
} from '../input/index.js';
import { mintFrom, newId } from '../new-id.js';
import { type FoundationParts, foundationChannels, type StepOutcome } from '../parts.js';
import type { AgentDirectory } from '../ports.js';
import type { RuntimeRegistry } from '../runtime/index.js';
import { activatePlain, findPlain, type PlainInput, segmentsOf } from './activate-plain.js';
import { hasCandidate, insertCandidate } from './candidate-store.js';
import { keepFanOut, selectFanOut } from './fan-out-store.js';
import { type FanOutPlace, type FindCandidates, findCandidates } from './find-candidates.js';
import { type LoggedInput, type ResolvingSeed, resolveSeed } from './resolve-seed.js';

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
const tenantsAtOnce = 100;

export async function resolveInputs(resolver: Resolver): Promise<StepOutcome> {
  let more = false;
  for (const tenant of await waitingTenants(resolver.db.sql, tenantsAtOnce)) {
    const resolved = await resolveTenant(resolver, tenant);
    more ||= resolved === 'more';
  }
  return more ? 'more' : 'idle';
}

/** Together first, which is quick; if anything in it fails, each in a savepoint of its own, so that only that one is set aside. */
async function resolveTenant(resolver: Resolver, tenant: string): Promise<StepOutcome> {
  const wake = new Set<string>();
  const resolve = (apart: boolean) =>
    resolver.db.transact('resolve-inputs', (tx) => resolveBatch(resolver, tx, { tenant, wake, apart }));
  const outcome = await resolve(false).catch((error: unknown) => {
    if (isConnectionLost(error) || isRetryableConflict(error)) throw error;
    wake.clear();
    return resolve(true);
  });
  for (const channel of wake) resolver.wakeups.wake(channel);
  return outcome;
}

interface Batch {
  tenant: string;
  wake: Set<string>;
  apart: boolean;
}

async function resolveBatch(resolver: Resolver, tx: Tx, { tenant, wake, apart }: Batch): Promise<StepOutcome> {
  // The first of them may be one that a commit before has left half-way.
  const { inputs, halfWay } = await takeInputs(tx, tenant);
  const mint = mintFrom(resolver);
  const until = resolver.clock.monotonicMs() + batchMs;
  const plain = apart
    ? new Map<string, PlainInput>()
    : await findPlain(resolver, tx, halfWay ? inputs.slice(1) : inputs);
  let after = halfWay;
  let reached: LoggedInput | undefined;
  let moved = false;
  let unfinished: FanOutPlace | undefined;
  let left = inputs.length === inputLimits.resolveBatch;
  const segments = segmentsOf(inputs, plain);
  for (const segment of segments) {
    if ('together' in segment) {
      wake.add(foundationChannels.runs);
      reached = segment.last;
      moved = segment === segments.at(-1);
      // In one go to the database where nothing comes after it.
      const moving = moved ? advanceResolvedPosition(tx, tenant, reached.position) : undefined;
      await Promise.all([activatePlain(tx, segment.together, mint), moving]);
      continue;
    }
    const { last: input } = segment;
    const page = { input, mint, after };
    const resolved = apart
      ? resolveAlone(resolver, tx, page)
      : resolveInput(resolver, tx, { ...page, resolve: resolveSeed });
    const { channels, more } = await resolved;
    for (const channel of channels) wake.add(channel);
    after = undefined;
    if (more) {
      unfinished = more;
      break;
    }
    reached = input;
    if (resolver.clock.monotonicMs() > until) {
      left ||= input !== inputs.at(-1);
      break;
    }
  }
  // Moving on forgets how far the one before had come, so the next one is noted after it.
  if (reached && !moved) await advanceResolvedPosition(tx, tenant, reached.position);
  if (unfinished) await keepFanOut(tx, tenant, unfinished);
  return left || unfinished ? 'more' : 'idle';
}

interface Taken {
  inputs: LoggedInput[];
  /** How far the first of them has been decided on. */
  halfWay: FanOutPlace | undefined;
}

/** Numbers what waits and reads what is to be decided, in one go to the database. */
async function takeInputs(tx: Tx, tenant: string): Promise<Taken> {
  const [isOpen, , inputs, halfWay] = await Promise.all([
    lockLog(tx, tenant),
    numberInputs(tx, { tenant, limit: inputLimits.sequenceBatch }),
    selectUnresolvedInputs(tx, { tenant, limit: inputLimits.resolveBatch }),
    selectFanOut(tx, tenant),
  ]);
  if (isOpen) return { inputs, halfWay };
  await openLog(tx, tenant);
  return takeInputs(tx, tenant);
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
    const forgiving = { ...resolver, directory: passingOver(resolver, page.input) };
    return await tx.savepoint((inner) => resolveInput(forgiving, inner, { ...page, resolve: resolveApart }));
  } catch (error) {
    throwPassing(error);
    resolver.log.error({ err: error, inputId: page.input.id }, 'an input could not be resolved and is set aside');
    await setAside(tx, { ...page, reason: 'resolver_fault' });
    return { channels: [] };
  }
}

/** An agent that cannot be looked up is passed over: the others that its input concerns are reached all the same. */
function passingOver({ directory, log }: Resolver, { id: inputId }: LoggedInput): AgentDirectory {
  return {
    ...directory,
    async byHome(tx, home) {
      try {
        return await (tx as Tx).savepoint((inner) => directory.byHome(inner, home));
      } catch (error) {
        throwPassing(error);
        log.error({ err: error, inputId, home }, 'an agent cannot be looked up and is passed over');
        return undefined;
      }
    },
  };
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

type Resolving = Omit<ResolvingSeed, 'seed'>;
type ResolvingPage = Resolving & { after: FanOutPlace | undefined };

type ResolveSeed = (resolver: Resolver, tx: Tx, resolving: ResolvingSeed) => Promise<string[]>;

interface ResolvedPage {
  channels: string[];
  /** The input concerns more, from here on. */
  more?: FanOutPlace | undefined;
}

async function resolveInput(
  resolver: Resolver,
  tx: Tx,
  { input, mint, after, resolve }: ResolvingPage & { resolve: ResolveSeed },
): Promise<ResolvedPage> {
  const { seeds, reason, more, cut } = await findCandidates(resolver, tx, { input, after, ...resolver.fanOut });
  const channels: string[] = [];
  for (const seed of seeds) channels.push(...(await resolve(resolver, tx, { seed, input, mint })));
  if (cut) await setAside(tx, { input, mint, reason: 'fan_out_limit' });
  else if (!more && !(await hasCandidate(tx, input.id))) await setAside(tx, { input, mint, reason });
  return { channels, more };
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
