/** Takes queued runs for this host, as many in one commit as it has room for, and drives them beside each other. */
import { isConnectionLost } from '../../platform/index.js';
import type { FoundationParts, StepOutcome } from '../parts.js';
import { foundationChannels } from '../parts.js';
import type { AgentDefinition } from '../ports.js';
import { type QueuedRun, type RunPlace, selectQueuedRuns } from '../run/index.js';
import { runChannel } from '../run-event/index.js';
import type { Reservation } from '../runtime/index.js';
import { lookElsewhere } from './ask-placements.js';
import { type ClaimedRuns, claimRuns } from './claim-runs.js';
import { type Driver, driveRun } from './drive-run.js';
import { createHalt } from './halt.js';
import { prepareRuns } from './prepare-run.js';

const page = 100;
const pages = 20;

export type Starter = Driver & Pick<FoundationParts, 'holder' | 'live'>;

/**
 * A step passes over the homes that it has found waiting or held elsewhere, however many runs they have queued: else the
 * backlog of one agent would keep every other from its turn.
 */
export async function startRuns(starter: Starter): Promise<StepOutcome> {
  const { live } = starter;
  const seen: Seen = { passed: new Set(), agents: new Map() };
  const elsewhere = lookElsewhere(starter);
  let started = false;
  let after: RunPlace | undefined;
  for (let turn = 0; turn < pages; turn += 1) {
    // Whoever ends wakes the channel, so a full host need not look again before.
    if (live.free() <= 0) return 'idle';
    const queued: QueuedRun[] = await selectQueuedRuns(starter.db.sql, {
      after,
      limit: page,
      except: [...seen.passed],
    });
    await readAgents(starter, seen, queued);
    let open = queued.filter(({ home }) => !seen.passed.has(home));
    while (open.length > 0) {
      if (live.free() <= 0) return 'idle';
      const taken = open.slice(0, live.free());
      const outcome = await startTaken(starter, seen, taken);
      started ||= outcome.started;
      if (outcome.elsewhere) for (const home of await elsewhere.look(queued)) seen.passed.add(home);
      open = open.slice(taken.length).filter(({ home }) => !seen.passed.has(home));
    }
    after = queued.at(-1);
    if (queued.length < page) break;
  }
  await elsewhere.ask(started);
  return 'idle';
}

/** What a step has found out. */
interface Seen {
  passed: Set<string>;
  agents: Map<string, AgentDefinition | undefined>;
}

/** The runs of a paused agent wait, queued, until it is active again. */
async function readAgents(
  { db, directory }: Starter,
  { passed, agents }: Seen,
  queued: readonly QueuedRun[],
): Promise<void> {
  const homes = [...new Set(queued.map(({ home }) => home))].filter((home) => !agents.has(home));
  const found = new Map((await directory.byHomes(db.sql, homes)).map((agent) => [agent.home, agent]));
  for (const home of homes) {
    const agent = found.get(home);
    agents.set(home, agent);
    if (agent?.status === 'paused') passed.add(home);
  }
}

async function startTaken(
  starter: Starter,
  seen: Seen,
  taken: readonly QueuedRun[],
): Promise<{ started: boolean; elsewhere: boolean }> {
  const places = new Map<string, Reservation>();
  for (const { home, id } of taken) {
    const place = starter.live.reserve(home);
    if (place) places.set(id, place);
    // Given away at this moment, or the host is closing.
    else seen.passed.add(home);
  }
  try {
    const { claimed, elsewhere } = await claimTaken(
      starter,
      seen,
      taken.filter(({ id }) => places.has(id)),
    );
    for (const home of elsewhere) seen.passed.add(home);
    for (const each of claimed) drive(starter, each, places.get(each.run.id));
    return { started: claimed.length > 0, elsewhere: elsewhere.length > 0 };
  } finally {
    for (const place of places.values()) place.release();
  }
}

function drive(
  starter: Starter,
  { run, preparation }: ClaimedRuns['claimed'][number],
  place: Reservation | undefined,
): void {
  const { live, wakeups } = starter;
  const halt = createHalt();
  const { home, id: runId, fence } = run;
  const driving = driveRun(starter, { run, preparation, halt });
  const driven = place?.drive({ home, runId, fence, stop: halt.halt }, driving) ?? driving;
  driven.then(() => {
    wakeups.wake(foundationChannels.runs);
    if (live.isAsked(home)) wakeups.wake(foundationChannels.placements);
  });
  wakeups.wake(runChannel(runId));
}

/** All at once; if that fails, each by itself, so that one that cannot be begun holds up nobody but its own agent. */
async function claimTaken(starter: Starter, seen: Seen, taken: readonly QueuedRun[]): Promise<ClaimedRuns> {
  const [only] = taken;
  if (!only) return { claimed: [], elsewhere: [] };
  try {
    const preparations = await prepareRuns(
      starter,
      taken.map((run) => ({ run, agent: seen.agents.get(run.home) })),
    );
    const ready = preparations.flatMap((preparation, place) => {
      const run = taken[place];
      return run ? [{ run, preparation }] : [];
    });
    return await claimRuns(starter, ready);
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    if (taken.length === 1) {
      starter.log.error({ err: error, runId: only.id }, 'a run cannot be begun; it stays queued');
      seen.passed.add(only.home);
      return { claimed: [], elsewhere: [] };
    }
    const apart: ClaimedRuns = { claimed: [], elsewhere: [] };
    for (const run of taken) {
      const own = await claimTaken(starter, seen, [run]);
      apart.claimed.push(...own.claimed);
      apart.elsewhere.push(...own.elsewhere);
    }
    return apart;
  }
}
