/**
 * Makes the inputs of slots that have come. One commit locks what is due by the database's clock, writes the inputs and moves
 * each schedule past its slots: a crash before it leaves them due, after it they are over, and no two processes fire one slot.
 * A second safety is the input's own identity, which names schedule and slot. A process clock plays no part (BR-52).
 */
import type { Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import { appendAudit } from '../audit/index.js';
import { type AcceptInput, acceptInputs } from '../input/index.js';
import { mintFrom } from '../new-id.js';
import { type FoundationParts, foundationChannels, type StepOutcome } from '../parts.js';
import { type ScheduleRecord, scheduleLimits } from './schedule.js';
import { type Due, dueSlots, type Firing, slotAt } from './slots.js';
import { type AdvanceSchedule, advanceSchedules, lockDueSchedules } from './store.js';

const batch = 100;
const source = 'hearth://schedule';

type Firer = Pick<FoundationParts, 'db' | 'clock' | 'random' | 'wakeups' | 'log'>;
type DueSchedule = Awaited<ReturnType<typeof lockDueSchedules>>[number];

export async function fireSchedules(firer: Firer): Promise<StepOutcome> {
  const seen = await firer.db.transact('fire-schedules', (tx) => fireDue(firer, tx));
  if (seen > 0) firer.wakeups.wake(foundationChannels.inputs);
  return seen === batch ? 'more' : 'idle';
}

async function fireDue(firer: Firer, tx: Tx): Promise<number> {
  const due = await lockDueSchedules(tx, batch);
  if (due.length === 0) return 0;
  const mint = mintFrom(firer);
  const decided = due.map((schedule) => ({ schedule, due: slotsOf(firer, schedule) }));
  await acceptInputs(
    tx,
    decided.flatMap(({ schedule, due }) => (due ? due.firings.map((firing) => inputOf(schedule, firing, mint)) : [])),
  );
  for (const { schedule, due } of decided) if (!due) await auditFault(tx, schedule);
  await advanceSchedules(
    tx,
    decided.map(({ schedule, due }) => advanceOf(schedule, due)),
  );
  return due.length;
}

/** Undefined for a rule that can no longer be read: a time zone may be taken out of the world. */
function slotsOf({ log }: Firer, { rule, catchUp, nextFireAt, now, id }: DueSchedule): Due | undefined {
  try {
    const { madeUp, graceMs } = scheduleLimits;
    return dueSlots(rule, slotAt(rule, nextFireAt), { now, catchUp, madeUp, graceMs });
  } catch (error) {
    log.error({ err: error, scheduleId: id }, 'a schedule cannot be computed any more and is ended');
    return undefined;
  }
}

function auditFault(tx: Tx, { home, id }: ScheduleRecord): Promise<void> {
  return appendAudit(tx, {
    home,
    actor: 'system:fire-schedules',
    action: 'schedule.end',
    object: id,
    outcome: 'rule_unreadable',
  });
}

function advanceOf({ home, id }: ScheduleRecord, due: Due | undefined): AdvanceSchedule {
  return {
    home,
    id,
    nextFireAt: due?.next?.at,
    lastSlotAt: due?.firings.at(-1)?.at,
    fired: due?.firings.length ?? 0,
    reason: due ? (due.next ? null : 'over') : 'rule_unreadable',
  };
}

function inputOf(schedule: DueSchedule, { at, type, missed }: Firing, ids: Mint): AcceptInput {
  const { home, tenant, id, owner, trustClass, rule, kind, agent, sessionId, subject, data, deliver, now } = schedule;
  const target = { ...(sessionId === null ? {} : { session: sessionId }), ...(agent === null ? {} : { agent }) };
  return {
    ingress: {
      tenant,
      home,
      source,
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
