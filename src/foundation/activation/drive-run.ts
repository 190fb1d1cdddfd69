/**
 * Journey 2, second half, of a claimed run: context recorded, runtime driven, ending settled, wait replayed. It never
 * rejects: what cannot be finished here is left to the run's lease, which somebody reaps.
 */
import type { FoundationParts } from '../parts.js';
import { type ClaimedRun, isCancelWanted, selectRun } from '../run/index.js';
import type { RunEnding } from '../runtime/index.js';
import { conductRun } from './conduct-run.js';
import { deliverControls } from './deliver-controls.js';
import { withForkedState } from './fork-state.js';
import type { Halt } from './halt.js';
import type { Preparation, PreparedRun } from './prepare-run.js';
import { replaySuspension } from './replay-suspensions.js';
import type { Settled } from './settle-run.js';
import { surely } from './surely.js';

export type Driver = Omit<FoundationParts, 'holder' | 'live'>;

export interface DriveRun {
  run: ClaimedRun;
  preparation: Preparation;
  halt: Halt;
}

export async function driveRun(driver: Driver, drive: DriveRun): Promise<void> {
  const { run, halt } = drive;
  try {
    const ending = await endingOf(driver, drive);
    if (ending === 'abandoned') {
      driver.log.warn({ runId: run.id, why: halt.why() }, 'a run is given up here');
      return;
    }
    const { settled, suspensionId } = await surely<Settled>(driver, {
      runId: run.id,
      attempt: () => driver.settles(run, ending),
      found: async () => ((await hasEndedSo(driver, run, ending)) ? { settled: true } : undefined),
    });
    if (!settled) driver.log.warn({ runId: run.id }, 'a run had moved on before it was settled');
    if (suspensionId === undefined) return;
    await replaySuspension(driver, { home: run.home, tenant: run.tenant, id: suspensionId });
  } catch (error) {
    driver.log.error({ err: error, runId: run.id }, 'a run could not be finished here; its lease will end it');
  }
}

async function hasEndedSo({ db }: Driver, { home, id }: ClaimedRun, ending: RunEnding): Promise<boolean> {
  const seen = await selectRun(db.sql, home, id);
  return seen !== undefined && `run.${seen.status}` === ending.type;
}

async function endingOf(driver: Driver, { run, preparation, halt }: DriveRun): Promise<RunEnding | 'abandoned'> {
  if (run.controlCursor > 0 && (await isCancelWanted(driver.db.sql, { home: run.home, runId: run.id }))) {
    return { type: 'run.cancelled', reason: 'control_cancel' };
  }
  if ('failed' in preparation) return { type: 'run.failed', reason: preparation.failed };
  const prepared = await withForkedState(driver, preparation);
  if (!prepared) return { type: 'run.failed', reason: 'fork_failed' };
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
