/**
 * Something that ends by itself tells of it: `lease.expiring` some time before, `lease.expired` at its end, as events about
 * its subject. Called in the transaction that makes, prolongs or ends it; watching the same subject again moves the watch.
 */
import type { Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import { addSchedule } from './add-schedule.js';
import { cancelScheduleByKey } from './store.js';

export interface WatchExpiry {
  home: string;
  tenant: string;
  agent?: string;
  /** What ends: the id of a lease, a credential or a promise. */
  subject: string;
  expiresAt: Date;
  leadS: number;
  /** A promise has a deadline, everything else expires. */
  kind?: 'expiry' | 'deadline';
  ids: Mint;
}

/** After the commit the caller wakes `foundationChannels.schedules`. */
export async function watchExpiry(tx: Tx, watch: WatchExpiry): Promise<void> {
  const { home, tenant, agent, subject, expiresAt, leadS, kind = 'expiry', ids } = watch;
  await addSchedule(tx, {
    draft: {
      rule: { kind, at: expiresAt.toISOString(), lead_s: leadS },
      key: keyOf(subject),
      deliver: 'event',
      catch_up: 'one',
      subject,
    },
    home,
    tenant,
    agent,
    owner: 'system:expiry',
    trustClass: 'trusted_fact',
    ids,
  });
}

export function stopWatching(tx: Tx, { home, subject }: { home: string; subject: string }): Promise<boolean> {
  return cancelScheduleByKey(tx, { home, key: keyOf(subject) });
}

function keyOf(subject: string): string {
  return `expiry:${subject}`.slice(0, 128);
}
