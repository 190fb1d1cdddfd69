// A schedule as its readers see it.
import type { ScheduleRecord } from '../../foundation/index.js';
import { formatInstant } from '../../protocol/index.js';

export function scheduleView(schedule: ScheduleRecord, agent: string) {
  const { id, owner, key, rule, deliver, catchUp, sessionId, subject, data, status } = schedule;
  return {
    id,
    agent,
    owner,
    key,
    rule,
    deliver,
    catch_up: catchUp,
    session: sessionId,
    subject,
    data,
    status,
    next_fire_at: schedule.nextFireAt && formatInstant(schedule.nextFireAt),
    last_slot_at: schedule.lastSlotAt && formatInstant(schedule.lastSlotAt),
    fired_count: schedule.firedCount,
    ended_reason: schedule.endedReason,
    created_at: formatInstant(schedule.createdAt),
  };
}
