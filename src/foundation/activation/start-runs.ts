/** Claims queued runs for this host, each with its agent's placement in one commit, and drives them beside each other. */
import type { FoundationParts, StepOutcome } from '../parts.js';
import { foundationChannels } from '../parts.js';
import { type ClaimedRun, type QueuedRun, type RunPlace, runLimits, selectQueuedRuns, startRun } from '../run/index.js';
import { appendRunEvents, runChannel } from '../run-event/index.js';
import { lookElsewhere } from './ask-placements.js';
import { type Driver, driveRun } from './drive-run.js';
import { createHalt } from './halt.js';

const page = 100;
const pages = 20;

export type Starter = Driver & Pick<FoundationParts, 'holder' | 'live'>;

/**
 * A step passes over the homes that it has found waiting or held elsewhere, however many runs they have queued: else the
 * backlog of one agent would keep every other from its turn.
 */
export async function startRuns(starter: Starter): Promise<StepOutcome> {
  const passed = new Set<string>();
  const elsewhere = lookElsewhere(starter);
  let started = false;
  let after: RunPlace | undefined;
  for (let turn = 0; turn < pages; turn += 1) {
    const places: QueuedRun[] = await selectQueuedRuns(starter.db.sql, { after, limit: page, except: [...passed] });
    for (const place of places) {
      // Whoever ends wakes the channel, so a full host need not look again before.
      if (starter.live.free() <= 0) return 'idle';
      if (passed.has(place.home)) continue;
      const outcome = await startPlace(starter, place);
      if (outcome === 'started') started = true;
      if (outcome === 'not_here' || outcome === 'elsewhere') passed.add(place.home);
      if (outcome === 'elsewhere') for (const home of await elsewhere.look(places)) passed.add(home);
    }
    after = places.at(-1);
    if (places.length < page) break;
  }
  await elsewhere.ask(started);
  return 'idle';
}

type Outcome = 'started' | 'taken' | 'not_here' | 'elsewhere';

/** `not_here`: no run of this agent can be started by this host now; `elsewhere`: because another host has the agent. */
async function startPlace(starter: Starter, place: RunPlace): Promise<Outcome> {
  const { live, wakeups } = starter;
  const agent = await starter.directory.byHome(starter.db.sql, place.home);
  // The runs of a paused agent wait, queued, until it is active again.
  if (agent?.status === 'paused') return 'not_here';
  const reserved = live.reserve(place.home);
  // Given away at this moment, or the host is closing.
  if (!reserved) return 'not_here';
  try {
    const run = await claimRun(starter, place);
    if (typeof run === 'string') return run;
    const halt = createHalt();
    const { home, id: runId, fence } = run;
    const driven = reserved.drive({ home, runId, fence, stop: halt.halt }, driveRun(starter, run, halt));
    driven.then(() => {
      wakeups.wake(foundationChannels.runs);
      if (live.isAsked(home)) wakeups.wake(foundationChannels.placements);
    });
    wakeups.wake(runChannel(runId));
    return 'started';
  } finally {
    reserved.release();
  }
}

/** `elsewhere` while another host has the agent, `taken` when one was faster with the run. */
function claimRun(
  { db, placements, holder }: Starter,
  { home, id }: RunPlace,
): Promise<ClaimedRun | 'taken' | 'elsewhere'> {
  return db.transact('start-run', async (tx) => {
    const fence = await placements.claim(tx, home, holder);
    if (!fence) return 'elsewhere';
    const run = await startRun(tx, { home, id, holder, fence, leaseMs: runLimits.leaseMs });
    if (!run) return 'taken';
    const data = { attempt: run.attempt, placement_epoch: fence.placementEpoch };
    await appendRunEvents(tx, { home, runId: id, events: [{ type: 'run.started', data }] });
    return { ...run, fence };
  });
}
