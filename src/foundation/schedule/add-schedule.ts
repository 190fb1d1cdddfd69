/** Sets a schedule. Under a key, setting it again changes the one that stands: an upgrade step that runs twice adds none (BR-43). */
import type { Tx } from '../../platform/index.js';
import { homeOf, type Mint, Problem } from '../../protocol/index.js';
import type { TrustClass } from '../input/index.js';
import { newId } from '../new-id.js';
import { checkData, requireFirstSlot, type ScheduleDraft, type ScheduleRecord, scheduleLimits } from './schedule.js';
import { insertSchedule, lockScheduleCount, selectScheduleByKey } from './store.js';

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
  const { draft, home, tenant, agent, owner, trustClass, ids } = add;
  checkData(draft.data);
  if (draft.session !== undefined && homeOf(draft.session) !== home) {
    throw new Problem('not_found', 'there is no such session');
  }
  const rule = draft.rule.kind === 'heartbeat' ? { ...draft.rule, from: draft.rule.from ?? startOf(ids) } : draft.rule;
  const nextFireAt = requireFirstSlot(rule, ids.now);
  await requireRoom(tx, home, draft.key);
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

/** Beats are counted from when they were asked for. */
function startOf({ now }: Mint): string {
  return now.toISOString();
}

async function requireRoom(tx: Tx, home: string, key: string | undefined): Promise<void> {
  const count = await lockScheduleCount(tx, home);
  if (count < scheduleLimits.perAgent) return;
  if (key !== undefined && (await selectScheduleByKey(tx, home, key))) return;
  throw new Problem('conflict', `an agent may have ${scheduleLimits.perAgent} schedules`);
}
