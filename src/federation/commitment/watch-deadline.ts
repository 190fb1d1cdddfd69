/**
 * F15, D16: a promise tells its parties when its deadline draws near and when it has come, as long as it is open. In the
 * transaction that moves the promise. The session that has to do with the commitment is found by its subject.
 */
import { stopWatching, watchExpiry } from '../../foundation/index.js';
import type { Principal } from '../../home/index.js';
import type { Tx } from '../../platform/index.js';
import type { CommitmentState, Mint } from '../../protocol/index.js';

/** Whose copy of the commitment it is. */
export type CommitmentHolder = Pick<Principal, 'home' | 'tenant' | 'address' | 'kind'>;

export interface WatchDeadline {
  holder: CommitmentHolder;
  commitmentId: string;
  deadline: Date | null;
  before: CommitmentState | undefined;
  after: CommitmentState;
  ids: Mint;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export async function watchDeadline(tx: Tx, watch: WatchDeadline): Promise<void> {
  const { holder, commitmentId: subject, deadline, before, after, ids } = watch;
  const { home, tenant, address: agent, kind } = holder;
  // A person reads a mailbox and takes no inputs.
  if (deadline === null || kind !== 'agent' || isOpen(before) === isOpen(after)) return;
  if (isOpen(after)) {
    const times = { expiresAt: deadline, leadMs: leadMs(deadline, ids.now) };
    await watchExpiry(tx, { home, tenant, agent, subject, ...times, of: 'commitment', ids });
  } else {
    await stopWatching(tx, { home, subject });
  }
}

/** To be fulfilled still. */
function isOpen(state: CommitmentState | undefined): boolean {
  return state === 'active' || state === 'overdue';
}

/** A tenth of the time that is left, but a minute at least and a day at most. */
function leadMs(deadline: Date, now: Date): number {
  return Math.min(dayMs, Math.max(minuteMs, (deadline.getTime() - now.getTime()) / 10));
}
