/** Brings what was decided for a live run to the runtime that executes it, for as long as it runs. */
import { isConnectionLost, nextTurn } from '../../platform/index.js';
import { type InputRecord, selectInput } from '../input/index.js';
import type { FoundationParts } from '../parts.js';
import {
  type ClaimedRun,
  controlChannel,
  markDelivered,
  type RunControl,
  runLimits,
  selectOpenControls,
} from '../run/index.js';
import { appendRunEvents, holdRunningRun, runChannel } from '../run-event/index.js';
import type { Runtime } from '../runtime/index.js';
import { endCandidate } from './candidate-store.js';
import type { Halt } from './halt.js';

const pollMs = 1_000;

type Deliverer = Pick<FoundationParts, 'db' | 'clock' | 'wakeups' | 'placements' | 'log'>;

export interface DeliverControls {
  run: ClaimedRun;
  runtime: Runtime;
  halt: Halt;
  /** Aborts when the run has said how it ended. */
  ended: AbortSignal;
}

/** Resolves once the run has ended and nothing is under way to it; what was not delivered by then stays undelivered. */
export async function deliverControls(deliverer: Deliverer, delivery: DeliverControls): Promise<void> {
  const { run, ended, halt } = delivery;
  const watch = deliverer.wakeups.watch(controlChannel(run.id));
  const steering = new Set<Promise<void>>();
  let after = 0;
  try {
    // A run that ends at once has nothing to be told.
    await nextTurn();
    while (!ended.aborted) {
      for (const control of await openControls(deliverer, run, after)) {
        after = control.seq;
        if (control.verb === 'cancel') await cancel(deliverer, delivery, control);
        else steering.add(steer(deliverer, delivery, control));
      }
      await watch.wait(pollMs, ended);
    }
    // A runtime that neither takes nor refuses a steer keeps the run from settling for a moment only.
    await Promise.race([Promise.all(steering), deliverer.clock.sleep(runLimits.stopGraceMs)]);
  } catch (error) {
    deliverer.log.error({ err: error, runId: run.id }, 'controls cannot be delivered; the run is given up');
    halt.halt('fault');
  } finally {
    watch.close();
  }
}

interface OpenControl extends RunControl {
  input: InputRecord | undefined;
}

/** In the order of the decisions, which is the order of delivery. A database that is away for a moment costs one poll. */
async function openControls({ db }: Deliverer, { home, id }: ClaimedRun, after: number): Promise<OpenControl[]> {
  try {
    const controls = await selectOpenControls(db.sql, { home, runId: id, after });
    const inputs = await Promise.all(controls.map(({ inputHome, inputId }) => selectInput(db.sql, inputHome, inputId)));
    return controls.map((control, index) => ({ ...control, input: inputs[index] }));
  } catch (error) {
    if (isConnectionLost(error)) return [];
    throw error;
  }
}

async function cancel(
  deliverer: Deliverer,
  { run, runtime, halt }: DeliverControls,
  control: RunControl,
): Promise<void> {
  if (!(await confirm(deliverer, run, control))) return;
  halt.halt('cancelled');
  // Told beside its signal, and not waited for: a runtime that fails or hangs in here is stopped all the same.
  const told = async () => runtime.cancel?.(run.id, 'control_cancel');
  told().catch((error: unknown) => deliverer.log.warn({ err: error, runId: run.id }, 'a runtime failed in its cancel'));
}

/** Offered before anything is awaited, so that steers reach the runtime in their order. */
async function steer(
  deliverer: Deliverer,
  { run, runtime, halt }: DeliverControls,
  control: OpenControl,
): Promise<void> {
  try {
    const { type = '', trustClass = '', data = null } = control.input ?? {};
    const taken = await runtime.steer?.(run.id, { input_id: control.inputId, type, trust_class: trustClass, data });
    if (taken === true) await confirm(deliverer, run, control);
  } catch (error) {
    deliverer.log.error({ err: error, runId: run.id }, 'a steer cannot be delivered; the run is given up');
    halt.halt('fault');
  }
}

/** Delivered, its candidate consumed, and the run's events say so: one commit, refused once the run is not ours. */
async function confirm({ db, placements, wakeups }: Deliverer, run: ClaimedRun, control: RunControl): Promise<boolean> {
  const { home, id } = run;
  const confirmed = await db.transact('confirm-control', async (tx) => {
    const fence = await placements.hold(tx, run.fence);
    if (!fence || !(await holdRunningRun(tx, { home, runId: id, fence }))) return false;
    await markDelivered(tx, { home, runId: id, seq: control.seq });
    await endCandidate(tx, { home, id: control.candidateId, status: 'consumed' });
    const event = { type: `control.${control.verb}`, data: { input_id: control.inputId } };
    await appendRunEvents(tx, { home, runId: id, events: [event] });
    return true;
  });
  wakeups.wake(runChannel(id));
  return confirmed;
}
