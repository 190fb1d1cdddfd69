/**
 * Something that ends by itself tells of it: `lease.expiring` some time before, `lease.expired` at its end, as events about
 * its subject. Called in the transaction that makes, prolongs or ends it; watching the same subject again moves the watch.
 * Watches are as many as what they are about, and take no place of an agent's own schedules.
 */
import type { Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import { putSchedule } from './add-schedule.js';
import { type ScheduleRule, watchPrefix } from './schedule.js';
import { firstSlot } from './slots.js';
import { cancelScheduleByKey, countSchedules } from './store.js';

export interface WatchExpiry {
  home: string;
  tenant: string;
  /** Who is told; absent for whoever has subscribed. */
  agent?: string | undefined;
  /** What ends: the id of a lease, a credential or a commitment. */
  subject: string;
  expiresAt: Date;
  /** How long before its end there is a warning. */
  leadMs: number;
  /** Default: a lease. A commitment has a deadline: `commitment.deadline_approaching`, `commitment.deadline_reached`. */
  of?: 'lease' | 'commitment';
  ids: Mint;
}

/** After the commit the caller wakes `foundationChannels.schedules`, or the first slot may be some seconds late. */
export async function watchExpiry(tx: Tx, watch: WatchExpiry): Promise<void> {
  const { home, tenant, agent, subject, expiresAt, ids } = watch;
  const { now } = await countSchedules(tx, home);
  const rule = ruleOf(watch);
  const draft = { rule, key: keyOf(subject), deliver: 'event', catch_up: 'one', subject } as const;
  const owner = 'system:expiry';
  const nextFireAt = firstSlot(rule, now)?.at ?? expiresAt;
  await putSchedule(tx, { draft, home, tenant, agent, owner, trustClass: 'trusted_fact', nextFireAt, ids });
}

/** False when nothing was watched, or it has ended. */
export function stopWatching(tx: Tx, { home, subject }: { home: string; subject: string }): Promise<boolean> {
  return cancelScheduleByKey(tx, { home, key: keyOf(subject) });
}

function ruleOf({ expiresAt, leadMs, of }: WatchExpiry): ScheduleRule {
  const times = { at: expiresAt.toISOString(), lead_s: Math.round(leadMs / 1000) };
  return of === 'commitment' ? { kind: 'deadline', ...times, of } : { kind: 'expiry', ...times };
}

function keyOf(subject: string): string {
  return `${watchPrefix}${subject}`;
}
