/**
 * Journey 2, second half, of a claimed run: context recorded, runtime driven, ending settled, wait replayed. It never
 * rejects: what cannot be finished here is left to the run's lease, which somebody reaps.
 */
import type { FoundationParts } from '../parts.js';
import { type ClaimedRun, isCancelWanted } from '../run/index.js';
import type { RunEnding } from '../runtime/index.js';
import { conductRun } from './conduct-run.js';
import { deliverControls } from './deliver-controls.js';
import type { Halt } from './halt.js';
import { type PreparedRun, prepareRun } from './prepare-run.js';
import { replaySuspension } from './replay-suspensions.js';
import { settleSurely } from './settle-surely.js';

export type Driver = Omit<FoundationParts, 'holder' | 'live'>;

export async function driveRun(driver: Driver, run: ClaimedRun, halt: Halt): Promise<void> {
  try {
    const ending = await endingOf(driver, run, halt);
    if (ending === 'abandoned') {
      driver.log.warn({ runId: run.id, why: halt.why() }, 'a run is given up here');
      return;
    }
    const { settled, suspensionId } = await settleSurely(driver, run, ending);
    if (!settled) driver.log.warn({ runId: run.id }, 'a run had moved on before it was settled');
    if (suspensionId !== undefined) await replaySuspension(driver, { home: run.home, id: suspensionId });
  } catch (error) {
    driver.log.error({ err: error, runId: run.id }, 'a run could not be finished here; its lease will end it');
  }
}

async function endingOf(driver: Driver, run: ClaimedRun, halt: Halt): Promise<RunEnding | 'abandoned'> {
  if (await isCancelWanted(driver.db.sql, { home: run.home, runId: run.id })) {
    return { type: 'run.cancelled', reason: 'control_cancel' };
  }
  const prepared = await prepareRun(driver, run);
  if (prepared === 'lost') return 'abandoned';
  if ('failed' in prepared) return { type: 'run.failed', reason: prepared.failed };
  return conductWithControls(driver, { run, prepared, halt });
}

async function conductWithControls(
  driver: Driver,
  conduct: { run: ClaimedRun; prepared: PreparedRun; halt: Halt },
): Promise<RunEnding | 'abandoned'> {
  const { run, prepared, halt } = conduct;
  const ended = new AbortController();
  const controls = deliverControls(driver, { run, runtime: prepared.runtime, halt, ended: ended.signal });
  let ending: RunEnding | 'abandoned';
  try {
    ending = await conductRun(driver, conduct);
  } finally {
    ended.abort();
    await controls;
  }
  // What it was told and could not be recorded would be told again after it: then its ending does not count either.
  return halt.why() === 'fault' ? 'abandoned' : ending;
}
