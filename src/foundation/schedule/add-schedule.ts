/**
 * Sets a schedule. Under a key, setting it again changes the one that stands: an upgrade step that runs twice adds none, moves
 * no slot and fires none again, also when the last slot is over (BR-43).
 */
import type { Tx } from '../../platform/index.js';
import { canonicalize, homeOf, type Mint, Problem } from '../../protocol/index.js';
import type { TrustClass } from '../input/index.js';
import { newId } from '../new-id.js';
import { selectSession } from '../session/index.js';
import {
  checkData,
  requireFirstSlot,
  type ScheduleDraft,
  type ScheduleRecord,
  type ScheduleRule,
  scheduleLimits,
} from './schedule.js';
import { countSchedules, insertSchedule, lockSchedulesOf, selectScheduleByKey } from './store.js';

export interface AddSchedule {
  draft: ScheduleDraft;
  home: string;
  tenant: string;
  /** The agent that it is for; absent for an event that concerns whoever has subscribed. */
  agent: string | undefined;
  owner: string;
  trustClass: TrustClass;
  ids: Mint;
}

/** After the commit the caller wakes `foundationChannels.schedules`. */
export async function addSchedule(tx: Tx, add: AddSchedule): Promise<ScheduleRecord> {
  const { draft, home } = add;
  checkData(draft.data);
  await requireSession(tx, home, draft.session);
  await lockSchedulesOf(tx, home);
  const { count, now } = await countSchedules(tx, home);
  const standing = draft.key === undefined ? undefined : await selectScheduleByKey(tx, home, draft.key);
  const rule = alignRule(draft.rule, standing, now);
  if (takesPlace(standing, rule) && count >= scheduleLimits.perAgent) {
    throw new Problem('conflict', `an agent may have ${scheduleLimits.perAgent} schedules`);
  }
  return putSchedule(tx, { ...add, draft: { ...draft, rule }, nextFireAt: requireFirstSlot(rule, now) });
}

/** Without limits, for what the domain watches by itself. */
export async function putSchedule(tx: Tx, put: AddSchedule & { nextFireAt: Date }): Promise<ScheduleRecord> {
  const { draft, home, tenant, agent, owner, trustClass, nextFireAt, ids } = put;
  const { rule } = draft;
  return insertSchedule(tx, {
    home,
    id: newId('sch', home, ids),
    tenant,
    owner,
    trustClass,
    key: draft.key ?? null,
    kind: rule.kind,
    rule,
    deliver: draft.deliver,
    catchUp: draft.catch_up,
    agent: agent ?? null,
    sessionId: draft.session ?? null,
    subject: draft.subject ?? null,
    data: draft.data ?? null,
    nextFireAt,
  });
}

/** Another's session looks like none (BR-68). */
async function requireSession(tx: Tx, home: string, session: string | undefined): Promise<void> {
  if (session === undefined) return;
  const found = homeOf(session) === home && (await selectSession(tx, home, session));
  if (!found) throw new Problem('not_found', 'there is no such session');
}

/** Beats are counted from when they were first asked for. */
function alignRule(rule: ScheduleRule, standing: ScheduleRecord | undefined, now: Date): ScheduleRule {
  if (rule.kind !== 'heartbeat' || rule.from !== undefined) return rule;
  const before = standing?.rule.kind === 'heartbeat' ? standing.rule : undefined;
  const from = before?.every_s === rule.every_s ? before.from : undefined;
  return { ...rule, from: from ?? now.toISOString() };
}

function takesPlace(standing: ScheduleRecord | undefined, rule: ScheduleRule): boolean {
  if (!standing) return true;
  return standing.status === 'ended' && canonicalize({ ...standing.rule }) !== canonicalize({ ...rule });
}
