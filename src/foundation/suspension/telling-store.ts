/**
 * Facts are only written where somebody waits for them or listens, and who begins to may do so while one is being told. So who
 * tells holds this lock with others who tell, from before he looks until his commit; who begins to wait holds it alone, from
 * before his subscriptions stand until his commit: of the two commits the later one sees the earlier (F14, F25). A wait that
 * names a run or an effect needs none of it: their rows are locked by whoever ends them.
 */
import type { Tx } from '../../platform/index.js';

/** What facts are about: the first segments of their types. */
const told: readonly string[] = ['approval', 'effect', 'message', 'run'];

/** A statement of its own, because what it waits for is not seen by the one that waits. */
export async function shareTelling(tx: Tx, { tenant, type }: { tenant: string; type: string }): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(hashtextextended(${lockName(tenant, aboutOf(type))}, 0))`;
}

export async function holdTelling(
  tx: Tx,
  { tenant, waits }: { tenant: string; waits: readonly { type: string; subject?: string | undefined }[] },
): Promise<void> {
  const loose = waits.filter(({ subject }) => !/^(run|effect):/.test(subject ?? '')).map(({ type }) => aboutOf(type));
  // In one order, so that two of them never wait for each other.
  for (const about of told.filter((each) => loose.includes(each))) {
    await tx`select pg_advisory_xact_lock(hashtextextended(${lockName(tenant, about)}, 0))`;
  }
}

function aboutOf(type: string): string {
  return type.split('.', 1)[0] ?? '';
}

function lockName(tenant: string, about: string): string {
  return `hearth telling ${about} ${tenant}`;
}
