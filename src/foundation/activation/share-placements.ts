/**
 * Gives agents away that are not needed here: asked for by a host that has room, idle for long, or more than a host keeps.
 * Only agents without a run here, and no run of theirs is taken meanwhile, so that nothing is fenced off that runs. A crash
 * before the commit leaves them to lapse, after it they are free.
 */
import { type FoundationParts, foundationChannels, type StepOutcome } from '../parts.js';
import { placementLimits } from '../placement/index.js';
import type { PlacedAgent } from '../runtime/index.js';

type Sharer = Pick<FoundationParts, 'db' | 'wakeups' | 'placements' | 'holder' | 'live'>;

/** Runs when somebody asks, when a run of an agent that is asked for ends, and now and then. */
export async function sharePlacements(sharer: Sharer): Promise<StepOutcome> {
  const { db, wakeups, placements, holder, live } = sharer;
  if (live.placed().length === 0) return 'idle';
  const asked = new Set(await placements.asked(db.sql, holder));
  live.noteAsked(asked);
  const given = agentsToGive(live.placed(), asked).filter((home) => live.shut(home));
  if (given.length === 0) return 'idle';
  try {
    await db.transact('share-placements', (tx) => placements.release(tx, holder, given));
  } catch (error) {
    // What was given away all the same is found gone at the next beat.
    for (const home of given) live.open(home);
    throw error;
  }
  for (const home of given) live.forget(home);
  wakeups.wake(foundationChannels.runs);
  return 'idle';
}

/** Pure. */
export function agentsToGive(
  placed: readonly PlacedAgent[],
  asked: ReadonlySet<string>,
  { idleKeptMs, idleKept }: Pick<typeof placementLimits, 'idleKeptMs' | 'idleKept'> = placementLimits,
): string[] {
  const idle = placed
    .flatMap(({ home, idleMs }) => (idleMs === undefined ? [] : [{ home, idleMs }]))
    .sort((a, b) => a.idleMs - b.idleMs);
  return idle
    .filter(({ home, idleMs }, index) => index >= idleKept || idleMs >= idleKeptMs || asked.has(home))
    .map(({ home }) => home);
}
