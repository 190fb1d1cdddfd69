/**
 * Makes the inputs of slots that have come. One commit locks what is due by the database's clock, writes the inputs and moves
 * each schedule past its slots: a crash before it leaves them due, after it they are over, and no two processes fire one slot.
 * A second safety is the input's own identity, which names schedule and slot. A process clock plays no part (BR-52).
 */
import { type Database, isConnectionLost, isRetryableConflict, type Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import { appendAudit } from '../audit/index.js';
import { type AcceptInput, acceptInputs, scheduleSource } from '../input/index.js';
import { mintFrom } from '../new-id.js';
import { type FoundationParts, foundationChannels, type StepOutcome } from '../parts.js';
import { type ScheduleRecord, scheduleLimits } from './schedule.js';
import { type Due, dueSlots, type Firing, slotAt, slotsOf } from './slots.js';
import {
  type AdvanceSchedule,
  advanceSchedules,
  lockAheadSchedules,
  lockDueSchedules,
  selectNextSlotMs,
} from './store.js';

const batch = 100;
/** Slots that one step looks at before it leaves the rest to the next: after a long standstill there are very many. */
const looks = 1_000;

type Firer = Pick<FoundationParts, 'db' | 'clock' | 'random' | 'wakeups' | 'log'>;
type DueSchedule = Awaited<ReturnType<typeof lockDueSchedules>>[number];

/** What becomes of a schedule in this step. */
interface Decided {
  schedule: DueSchedule;
  outcome: Due | { fault: 'rule_unreadable' | 'input_refused' };
}

export async function fireSchedules(firer: Firer): Promise<StepOutcome> {
  const { fired, more } = await firer.db.transact('fire-schedules', (tx) => fireDue(firer, tx));
  if (fired) firer.wakeups.wake(foundationChannels.inputs);
  return more ? 'more' : 'idle';
}

/** Undefined when nothing is set. */
export function msToNextSlot({ db }: { db: Pick<Database, 'sql'> }): Promise<number | undefined> {
  return selectNextSlotMs(db.sql);
}

async function fireDue(firer: Firer, tx: Tx): Promise<{ fired: boolean; more: boolean }> {
  const again = await computeAgain(firer, tx);
  const due = await lockDueSchedules(tx, batch);
  const chosen = decideWithin(firer, due);
  const decided = await acceptSlots(firer, tx, chosen);
  for (const each of decided) if ('fault' in each.outcome) await auditFault(tx, each.schedule, each.outcome.fault);
  if (decided.length > 0) await advanceSchedules(tx, decided.map(advanceOf));
  return { fired: decided.length > 0, more: again || due.length === batch || decided.length < due.length };
}

function decideWithin(firer: Firer, due: readonly DueSchedule[]): Decided[] {
  const decided: Decided[] = [];
  let looked = 0;
  for (const schedule of due) {
    const outcome = decide(firer, schedule);
    decided.push({ schedule, outcome });
    looked += 'fault' in outcome ? 1 : outcome.looked;
    if (looked > looks) break;
  }
  return decided;
}

/** A rule may be readable no more: a time zone may be taken out of the world. */
function decide({ log }: Firer, { rule, catchUp, nextFireAt, now, id }: DueSchedule): Decided['outcome'] {
  try {
    const { madeUp, graceMs } = scheduleLimits;
    return dueSlots(rule, slotAt(rule, nextFireAt), { now, catchUp, madeUp, graceMs });
  } catch (error) {
    log.error({ err: error, scheduleId: id }, 'a schedule cannot be computed any more and is ended');
    return { fault: 'rule_unreadable' };
  }
}

/** A schedule whose input cannot be taken never holds up the others: it is ended. */
async function acceptSlots(firer: Firer, tx: Tx, decided: Decided[]): Promise<Decided[]> {
  const mint = mintFrom(firer);
  const accept = (some: readonly Decided[]) =>
    tx.savepoint((inner) =>
      acceptInputs(
        inner,
        some.flatMap((each) => inputsOf(each, mint)),
      ),
    );
  try {
    await accept(decided);
    return decided;
  } catch (error) {
    throwPassing(error);
  }
  const apart: Decided[] = [];
  for (const each of decided) {
    try {
      await accept([each]);
      apart.push(each);
    } catch (error) {
      throwPassing(error);
      firer.log.error({ err: error, scheduleId: each.schedule.id }, 'the input of a schedule is refused; it is ended');
      apart.push({ ...each, outcome: { fault: 'input_refused' } });
    }
  }
  return apart;
}

function throwPassing(error: unknown): void {
  if (isConnectionLost(error) || isRetryableConflict(error)) throw error;
}

/**
 * BR-52: the database's clock was ahead and has been put back. What was computed then lies too far ahead, and would stand
 * still for as long. A slot that had been fired early is not fired again: its input is known.
 */
async function computeAgain(firer: Firer, tx: Tx): Promise<boolean> {
  const ahead = await lockAheadSchedules(tx, batch);
  const advances = ahead.map(({ home, id, rule, now, nextFireAt }): AdvanceSchedule => {
    const kept = { home, id, fired: 0, nextFireAt: nextFireAt ?? undefined, reason: null };
    try {
      return { ...kept, nextFireAt: slotsOf(rule)(now)?.at ?? kept.nextFireAt };
    } catch (error) {
      firer.log.warn({ err: error, scheduleId: id }, 'a schedule cannot be computed again');
      return kept;
    }
  });
  if (advances.length > 0) await advanceSchedules(tx, advances);
  return ahead.length === batch;
}

function auditFault(tx: Tx, { home, id }: ScheduleRecord, outcome: string): Promise<void> {
  return appendAudit(tx, { home, actor: 'system:fire-schedules', action: 'schedule.end', object: id, outcome });
}

function advanceOf({ schedule: { home, id }, outcome }: Decided): AdvanceSchedule {
  if ('fault' in outcome) return { home, id, nextFireAt: undefined, fired: 0, reason: outcome.fault };
  const { firings, next } = outcome;
  const over = firings.length > 0 ? 'over' : 'passed_over';
  return {
    home,
    id,
    nextFireAt: next?.at,
    lastSlotAt: firings.at(-1)?.at,
    fired: firings.length,
    reason: next ? null : over,
  };
}

function inputsOf({ schedule, outcome }: Decided, mint: Mint): AcceptInput[] {
  return 'fault' in outcome ? [] : outcome.firings.map((firing) => inputOf(schedule, firing, mint));
}

function inputOf(schedule: DueSchedule, { at, type, missed }: Firing, ids: Mint): AcceptInput {
  const { home, tenant, id, owner, trustClass, rule, kind, agent, sessionId, subject, data, deliver, now } = schedule;
  const target = { ...(sessionId === null ? {} : { session: sessionId }), ...(agent === null ? {} : { agent }) };
  return {
    ingress: {
      tenant,
      home,
      source: scheduleSource,
      principal: owner,
      trustClass,
      relationship: 'own',
      ...('at' in rule ? { dueAt: new Date(rule.at) } : {}),
    },
    input: {
      // A command needs somebody to be sent to.
      kind: agent === null && sessionId === null ? 'event' : deliver,
      type,
      source_event_id: `schedule/${id}/${at.toISOString()}`,
      subject: { resource: subject ?? `schedule:${id}` },
      target,
      occurred_at: at.toISOString(),
      data: {
        schedule_id: id,
        kind,
        slot: at.toISOString(),
        late_ms: Math.max(0, now.getTime() - at.getTime()),
        missed,
        ...('at' in rule ? { at: rule.at } : {}),
        ...(data === null ? {} : { data }),
      },
    },
    ids,
  };
}
